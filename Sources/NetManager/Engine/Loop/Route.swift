/// What requests must have in common to share a connection, and who of them waits for one.
///
/// A class, as it is large, is handed on often, and only transfers over TLS have one. It is used on the engine's thread
/// alone.
final class Route: Hashable {
    private let host: String
    private let port: Int
    private let policyID: String
    private let proxy: ResolvedProxy
    private let connection: ConnectionOptions
    /// Which of the lanes it is (StreamLanes).
    let lane: Int
    /// Made once: most requests of a handle have the same route.
    private let hash: Int
    /// Who waits; of equal routes only the known one's counts (``RouteTable``).
    // Nothing outside is called while it is changed.
    @exclusivity(unchecked) var gate = ConnectionGate()

    init(
        host: String,
        port: Int,
        policyID: String,
        proxy: ResolvedProxy,
        connection: ConnectionOptions,
        lane: Int = 0
    ) {
        self.host = host
        self.port = port
        self.policyID = policyID
        self.proxy = proxy
        self.connection = connection
        self.lane = lane
        // The rest differs seldom, and would cost more to hash than to compare.
        var hasher = Hasher()
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(policyID)
        hash = hasher.finalize()
    }

    /// The same in another lane.
    func inLane(_ lane: Int) -> Route {
        guard lane != self.lane else { return self }
        return Route(
            host: host,
            port: port,
            policyID: policyID,
            proxy: proxy,
            connection: connection,
            lane: lane
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
