/// What requests must have in common to share a connection, and who of them waits for one.
///
/// A class, as it is large, is handed on often, and only transfers over TLS have one. It is used on the engine's thread
/// alone.
final class Route: Hashable {
    /// The lane of requests that ask for HTTP/1.1, which need no route.
    ///
    /// Where a server multiplexes, libcurl (7.88) takes every connection to it for one that does, and sends a second request
    /// over one of HTTP/1.1 that is in use.
    static let withoutMultiplexing = -1

    private let host: String
    private let port: Int
    private let policyID: String
    private let proxy: ResolvedProxy
    private let connection: ConnectionOptions
    /// Which of the lanes it is (StreamLanes).
    let lane: Int
    /// The route whose lane it is; nil in the first lane.
    private let first: Route?
    /// Made once: most requests of a handle have the same route.
    private let hash: Int
    /// Who waits; of equal routes only the known one's counts (``RouteTable``).
    // Nothing outside is called while it is changed.
    @exclusivity(unchecked) var gate = ConnectionGate()
    /// Who is on which lane; the first lane's route counts.
    // As with the gate.
    @exclusivity(unchecked) private var lanes = StreamLanes()
    /// Whether it still stands for all that are equal to it (``RouteTable``).
    var isKnown = true

    init(
        host: String,
        port: Int,
        policyID: String,
        proxy: ResolvedProxy,
        connection: ConnectionOptions,
        lane: Int = 0,
        of first: Route? = nil
    ) {
        self.host = host
        self.port = port
        self.policyID = policyID
        self.proxy = proxy
        self.connection = connection
        self.lane = lane
        self.first = first
        // The rest differs seldom, and would cost more to hash than to compare.
        var hasher = Hasher()
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(policyID)
        hash = hasher.finalize()
    }

    /// Whether nobody is on it, or waits.
    var isIdle: Bool { gate.isIdle && lanes.isEmpty }

    /// A transfer begins, in the first lane's route.
    /// - Parameters:
    ///   - reads: Whether its response is read piece by piece.
    ///   - most: How many readers may have a connection of their own.
    /// - Returns: The route in the lane that it has.
    func enterLane(reads: Bool, most: Int) -> Route {
        // Where each request has a connection to itself there is nothing to keep apart.
        inLane(lanes.enter(reads: reads, most: gate.multiplexes == false ? 0 : most))
    }

    /// A transfer on this lane that had not counted as a reader has been suspended.
    func readsInLane() {
        (first ?? self).lanes.readsOn(lane)
    }

    /// A transfer on this lane has ended.
    func leaveLane(reads: Bool) {
        (first ?? self).lanes.leave(lane, reads: reads)
    }

    /// The same in a lane, of the first one.
    func inLane(_ lane: Int) -> Route {
        guard lane != 0 else { return self }
        return Route(
            host: host,
            port: port,
            policyID: policyID,
            proxy: proxy,
            connection: connection,
            lane: lane,
            of: self
        )
    }

    static func == (one: Route, other: Route) -> Bool {
        one === other
            || one.hash == other.hash && one.host == other.host && one.port == other.port
                && one.policyID == other.policyID && one.lane == other.lane
                && one.proxy == other.proxy && one.connection == other.connection
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}
