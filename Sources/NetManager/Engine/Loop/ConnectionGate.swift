/// Lets the first of many requests of a route make its connection before the others ask for one.
///
/// Where the server multiplexes, the others then share that connection. libcurl waits by itself (CURLOPT_PIPEWAIT)
/// only while it knows nothing about a host: beside a connection of another policy, 24 requests at once opened 24
/// connections.
struct ConnectionGate {
    /// Who makes a connection, or finds one, while others wait.
    private var leader: TransferID?
    private var waiting: [TransferID] = []
    /// Whether the newest connection carries many requests at a time; nil while there was none.
    private(set) var multiplexes: Bool?

    /// Whether nobody leads or waits.
    var isIdle: Bool { leader == nil && waiting.isEmpty }

    /// A transfer wants to begin.
    /// - Returns: False when it has to wait until it is named by one of the other functions.
    mutating func mayEnter(_ id: TransferID) -> Bool {
        // Nobody gains from waiting where each request has a connection of its own.
        if multiplexes == false { return true }
        guard leader != nil else {
            leader = id
            return true
        }
        waiting.append(id)
        return false
    }

    /// A transfer has a connection.
    /// - Returns: Who may begin now.
    mutating func connected(_ id: TransferID, multiplexes: Bool) -> [TransferID] {
        self.multiplexes = multiplexes
        if leader == id { leader = nil }
        return takeWaiting()
    }

    /// A transfer has ended, by itself or from outside.
    /// - Returns: Who may begin now: when a leader fails, all, since waiting for each failure in turn would take as
    ///   long as all of them; when it was only cancelled, the next one, which leads.
    mutating func ended(_ id: TransferID, wasCancelled: Bool) -> [TransferID] {
        guard leader == id else {
            // As nearly always.
            if !waiting.isEmpty { waiting.removeAll { $0 == id } }
            return []
        }
        leader = nil
        guard wasCancelled else { return takeWaiting() }
        guard !waiting.isEmpty else { return [] }
        let next = waiting.removeFirst()
        leader = next
        return [next]
    }

    private mutating func takeWaiting() -> [TransferID] {
        guard !waiting.isEmpty else { return [] }
        var taken: [TransferID] = []
        swap(&taken, &waiting)
        return taken
    }
}
