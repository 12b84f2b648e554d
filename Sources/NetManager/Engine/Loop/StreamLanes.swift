/// Who of a route's requests share a connection over HTTP/2, so that nobody brings bytes to a reader that sleeps.
///
/// libcurl reads a connection while one of its streams is wanted, and keeps what comes for the others (7.88: up to its
/// window of 32 MiB each). A stream whose companions all sleep holds the server back with the next 16 KiB. Whoever reads
/// piece by piece may sleep at any time, so each reader has a lane to itself, and the other requests share one without
/// readers. What is in another lane has another connection, as libcurl takes it for that of another policy
/// (PolicyMarker). Once as many readers as are allowed have lanes, further ones share theirs.
struct StreamLanes {
    private struct Lane {
        /// The transfers under way.
        var users = 0
        /// Those of them that read piece by piece, or have been suspended.
        var readers = 0
    }

    private var lanes: [Lane] = []
    private var readers = 0

    /// Whether nobody is on a lane.
    var isEmpty: Bool { lanes.isEmpty }

    /// A transfer begins.
    /// - Parameters:
    ///   - reads: Whether its response is read piece by piece.
    ///   - most: How many lanes readers may have; 0 for none but the first, which all share.
    /// - Returns: Its lane.
    mutating func enter(reads: Bool, most: Int) -> Int {
        let lane = most == 0 ? 0 : reads ? laneForReader(most) : laneForOthers()
        while lanes.count <= lane { lanes.append(Lane()) }
        lanes[lane].users += 1
        if reads { readsOn(lane) }
        return lane
    }

    /// A transfer that had not counted as a reader has been suspended.
    mutating func readsOn(_ lane: Int) {
        lanes[lane].readers += 1
        readers += 1
    }

    /// A transfer has ended.
    mutating func leave(_ lane: Int, reads: Bool) {
        lanes[lane].users -= 1
        if reads {
            lanes[lane].readers -= 1
            readers -= 1
        }
        while lanes.last?.users == 0 { lanes.removeLast() }
    }

    private func laneForOthers() -> Int {
        // As nearly always.
        if readers == 0 { return 0 }
        return lanes.firstIndex { $0.readers == 0 } ?? lanes.count
    }

    private func laneForReader(_ most: Int) -> Int {
        let taken = lanes.indices.filter { lanes[$0].readers > 0 }
        guard taken.count >= most else { return lanes.firstIndex { $0.users == 0 } ?? lanes.count }
        return taken.min { lanes[$0].users < lanes[$1].users } ?? lanes.count
    }
}
