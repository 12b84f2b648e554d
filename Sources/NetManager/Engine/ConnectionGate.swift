/// Lets the first of many requests make its connection before the others ask for one.
///
/// Where the server multiplexes, the others then share that connection. libcurl waits by itself (CURLOPT_PIPEWAIT)
/// only while it knows nothing about a host: beside a connection of another policy, 24 requests at once opened 24
/// connections.
struct ConnectionGate {
    /// What requests must have in common to share a connection.
    ///
    /// A class, as it is large, is handed on often, and only transfers over TLS have one.
    final class Route: Hashable {
        private let host: String
        private let port: Int
        private let policyID: String
        private let proxy: ResolvedProxy
        private let connection: ConnectionOptions
        /// Which of the lanes it is (StreamLanes).
        let lane: Int
        /// Made once: a route is looked for several times with each request, and most requests of a handle have the same one.
        private let hash: Int

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

    private struct Lane {
        /// Who makes a connection, or finds one, while others wait.
        var leader: TransferID?
        var waiting: [TransferID] = []
        /// Whether the newest connection multiplexes; nil while there was none.
        var multiplexes: Bool?

        var isIdle: Bool { leader == nil && waiting.isEmpty }
    }

    /// More lanes than this are not remembered while nobody is on them.
    private static let limit = 1024
    private var lanes: [Route: Lane] = [:]

    /// The route itself that an equal one is remembered by, which is found without being compared.
    func known(_ route: Route) -> Route { lanes.index(forKey: route).map { lanes[$0].key } ?? route }

    /// Whether the newest connection of a route carries many requests at a time.
    func multiplexes(_ route: Route) -> Bool { lanes[route]?.multiplexes == true }

    /// A transfer wants to begin.
    /// - Returns: False when it has to wait until it is named by one of the other functions.
    mutating func mayEnter(_ id: TransferID, on route: Route) -> Bool {
        enter(id, &lanes[route, default: Lane()])
    }

    /// The same on a lane that is changed where it is: a copy of it would copy the list of those who wait for each of them.
    private func enter(_ id: TransferID, _ lane: inout Lane) -> Bool {
        // Nobody gains from waiting where each request has a connection of its own.
        if lane.multiplexes == false { return true }
        guard lane.leader != nil else {
            lane.leader = id
            return true
        }
        lane.waiting.append(id)
        return false
    }

    /// A transfer has a connection.
    /// - Returns: Who may begin now.
    mutating func connected(_ id: TransferID, on route: Route, multiplexes: Bool) -> [TransferID] {
        guard var lane = lanes[route] else { return [] }
        // Most of the time nothing is new, and looking a route up is what this costs.
        if lane.multiplexes == multiplexes, lane.leader != id, lane.waiting.isEmpty { return [] }
        defer { lanes[route] = lane }
        lane.multiplexes = multiplexes
        if lane.leader == id { lane.leader = nil }
        defer { lane.waiting = [] }
        return lane.waiting
    }

    /// A transfer has ended, by itself or from outside.
    /// - Returns: Who may begin now: when a leader fails, all, since waiting for each failure in turn would take as
    ///   long as all of them; when it was only cancelled, the next one, which leads.
    mutating func ended(_ id: TransferID, on route: Route, wasCancelled: Bool) -> [TransferID] {
        guard var lane = lanes[route] else { return [] }
        if lane.multiplexes != nil, lane.isIdle, lanes.count <= Self.limit { return [] }
        defer {
            lanes[route] = lane.isIdle && (lane.multiplexes == nil || lanes.count > Self.limit) ? nil : lane
        }
        guard lane.leader == id else {
            lane.waiting.removeAll { $0 == id }
            return []
        }
        lane.leader = nil
        guard wasCancelled else {
            defer { lane.waiting = [] }
            return lane.waiting
        }
        guard !lane.waiting.isEmpty else { return [] }
        let next = lane.waiting.removeFirst()
        lane.leader = next
        return [next]
    }
}

/// The transfers that have got a connection since the event loop last looked.
///
/// It is told inside libcurl's callbacks, where nothing may be added to libcurl.
final class ConnectedTransfers {
    // Nothing outside is called while it is changed.
    @exclusivity(unchecked) private var transfers: [Transfer] = []

    func add(_ transfer: Transfer) {
        transfers.append(transfer)
    }

    func take() -> [Transfer] {
        guard !transfers.isEmpty else { return [] }
        defer { transfers = [] }
        return transfers
    }
}
