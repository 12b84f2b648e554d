/// Which of several loops a request goes over.
///
/// Requests that could share a connection go over the same one, so that keep-alive, multiplexing and TLS sessions are not
/// lost; which they are follows from what is asked first: each new pool gets the next loop in turn.
struct LoopTable {
    /// What requests have in common that could share a connection.
    struct Pool: Hashable {
        let host: String
        let port: Int?
        /// What keeps connections apart; empty where all to a host are counted together.
        let connectionID: String
    }

    /// So many pools are remembered.
    ///
    /// Who asks more hosts than that gets loops by a hash, which spreads so many well.
    static let most = 4096
    /// The longest name that is remembered, in bytes: no host has a longer one (RFC 1035, section 2.3.4).
    static let longestHost = 255

    private let count: Int
    private var places: [Pool: Int] = [:]

    /// Makes a table of a number of loops, at least one.
    init(count: Int) {
        self.count = count
    }

    /// The loop of a pool: the same one whenever it is asked for.
    mutating func place(of pool: Pool) -> Int {
        if let place = places[pool] { return place }
        guard places.count < Self.most, pool.host.utf8.count <= Self.longestHost else {
            return Int(UInt(bitPattern: pool.hashValue) % UInt(count))
        }
        let place = places.count % count
        places[pool] = place
        return place
    }
}
