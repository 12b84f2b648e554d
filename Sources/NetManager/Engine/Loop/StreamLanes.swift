/// Keeps new requests away from connections over HTTP/2 on which somebody does not read.
///
/// libcurl reads a connection while one of its streams is wanted, and keeps what comes for the others (7.88: up to its
/// window of 32 MiB each; every small answer took along the 3 MiB that had piled up in the kernel). A stream whose
/// companions all sleep holds the server back with the next 16 KiB. So a request that begins while a reader sleeps, or
/// has slept, goes over a connection of another lane, which libcurl takes for that of another policy (PolicyMarker).
/// Requests that were under way before stay where they are.
final class StreamLanes {
    /// The most lanes of a route; readers that sleep on all of them get company again.
    static let most = 4

    private let isUsed: Bool
    /// The transfers under way whose readers have slept, by route and by lane.
    private var sleepers: [Route: [Int]] = [:]

    /// Makes lanes.
    /// - Parameter isUsed: False where connections are limited: a request could wait for one without end.
    init(isUsed: Bool) {
        self.isUsed = isUsed
    }

    /// The route for a request that begins.
    func enter(_ route: Route) -> Route {
        guard !sleepers.isEmpty, let counts = sleepers[route] else { return route }
        if let lane = counts.firstIndex(of: 0) { return route.inLane(lane) }
        guard counts.count == Self.most else { return route.inLane(counts.count) }
        return route.inLane(counts.indices.min { counts[$0] < counts[$1] } ?? 0)
    }

    /// The reader of a transfer sleeps for the first time.
    func fallsAsleep(_ route: Route) {
        guard isUsed else { return }
        var counts = sleepers[route.inLane(0)] ?? []
        while counts.count <= route.lane { counts.append(0) }
        counts[route.lane] += 1
        sleepers[route.inLane(0)] = counts
    }

    /// A transfer whose reader had slept has ended.
    func ends(_ route: Route) {
        guard var counts = sleepers[route.inLane(0)] else { return }
        counts[route.lane] -= 1
        while counts.last == 0 { counts.removeLast() }
        sleepers[route.inLane(0)] = counts.isEmpty ? nil : counts
    }
}
