/// Keeps a table of the network by asking for it whole, again after every change: a state machine without I/O.
///
/// News are only taken as a reason to ask. Applying them would go wrong: the kernel removes the routes of an interface
/// that goes down without a word about them.
struct NetlinkDump: Sendable {
    /// What is to be asked of the kernel.
    struct Request: Sendable, Hashable {
        var type: UInt16
        var sequence: UInt32
    }

    enum Action: Sendable, Hashable {
        case ask(Request)
        /// The tables are complete.
        case publish(NetworkTable)
        case fail(errno: Int32)
    }

    private enum Stage { case idle, links, routes }

    private var stage = Stage.idle
    private var sequence: UInt32 = 0
    private var table = NetworkTable()
    /// Whether something changed since the running dump began.
    private var isStale = false

    /// Begins, or remembers to begin again after the running dump.
    mutating func begin() -> Action? {
        guard case .idle = stage else {
            isStale = true
            return nil
        }
        return restart()
    }

    /// Takes a datagram.
    mutating func receive(_ batch: NetlinkBatch) -> Action? {
        if batch.isMalformed || batch.isInterrupted { isStale = true }
        for entry in batch.entries {
            guard entry.isAnswer else {
                if isNews(entry.message) { isStale = true }
                continue
            }
            guard entry.sequence == sequence, stage != .idle else { continue }
            switch entry.message {
            case .link(let link): table.links[link.index] = link
            case .route(let route): if NetworkTable.leadsOut(route) { table.routes.append(route) }
            case .failed(let code) where code != 0:
                stage = .idle
                return .fail(errno: code)
            case .done: return finishStage()
            default: break
            }
        }
        // A broken datagram may have held the end of the dump.
        if batch.isMalformed { return restart() }
        return stage == .idle && isStale ? restart() : nil
    }

    /// News were lost: the socket's buffer was full.
    mutating func overflowed() -> Action? { restart() }

    private mutating func finishStage() -> Action? {
        if stage == .links {
            stage = .routes
            sequence &+= 1
            return .ask(Request(type: NetlinkReader.Number.getRoute, sequence: sequence))
        }
        if isStale { return restart() }
        stage = .idle
        return .publish(table)
    }

    private mutating func restart() -> Action {
        stage = .links
        isStale = false
        table = NetworkTable()
        sequence &+= 1
        return .ask(Request(type: NetlinkReader.Number.getLink, sequence: sequence))
    }

    private func isNews(_ message: NetlinkMessage) -> Bool {
        switch message {
        case .link, .linkRemoved: true
        case .route(let route), .routeRemoved(let route): NetworkTable.leadsOut(route)
        default: false
        }
    }
}
