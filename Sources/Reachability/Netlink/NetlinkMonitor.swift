import Dispatch
import Glibc
import Locks

/// Reads the kernel's news on a queue of its own.
final class NetlinkMonitor: Sendable {
    private let socket: NetlinkSocket
    private let queue = DispatchQueue(label: "NetManager.reachability")
    private let dump = Guarded(NetlinkDump())
    private let life = Guarded(Life())

    private struct Life {
        var source: Source?
        /// Whether it was told to stop, perhaps before it has begun.
        var isStopped = false
    }

    /// `@unchecked Sendable` is true because a dispatch source may be cancelled from any thread.
    private struct Source: @unchecked Sendable {
        let source: any DispatchSourceRead
    }

    init() throws(ReachabilityError) {
        socket = try NetlinkSocket(withNews: true)
    }

    /// Begins to read.
    ///
    /// - Parameter publish: Told of each table, and of nil when the kernel cannot be asked any more; on a queue.
    func start(_ publish: @escaping @Sendable (NetworkTable?) -> Void) {
        let source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
        source.setEventHandler { [weak self] in self?.readAll(publish) }
        // The socket lives until the source has let go of the descriptor.
        let socket = socket
        source.setCancelHandler { withExtendedLifetime(socket) {} }
        let isStopped = life.withLock { [held = Source(source: source)] life in
            if !life.isStopped { life.source = held }
            return life.isStopped
        }
        // A source that was never resumed must not be let go of.
        source.resume()
        guard !isStopped else { return source.cancel() }
        queue.async { [self] in
            let action = dump.withLock { $0.begin() }
            perform(action, publish)
        }
    }

    /// Reads no more.
    func stop() {
        let source = life.withLock { life in
            life.isStopped = true
            defer { life.source = nil }
            return life.source
        }
        source?.source.cancel()
    }

    private func readAll(_ publish: @Sendable (NetworkTable?) -> Void) {
        while true {
            let action: NetlinkDump.Action?
            switch socket.read() {
            case .nothing: return
            case .batch(let batch): action = dump.withLock { $0.receive(batch) }
            case .overflow: action = dump.withLock { $0.overflowed() }
            case .failure:
                stop()
                return publish(nil)
            }
            perform(action, publish)
        }
    }

    private func perform(_ action: NetlinkDump.Action?, _ publish: @Sendable (NetworkTable?) -> Void) {
        switch action {
        case nil: return
        case .publish(let table): publish(table)
        case .ask(let request):
            do {
                try socket.ask(request)
            } catch {
                stop()
                publish(nil)
            }
        case .fail:
            stop()
            publish(nil)
        }
    }

    /// Looks once.
    static func table() throws(ReachabilityError) -> NetworkTable {
        let socket = try NetlinkSocket(withNews: false)
        var dump = NetlinkDump()
        var action = dump.begin()
        // A dump takes milliseconds; tables that never stop changing are not waited for.
        for _ in 0..<10_000 {
            switch action {
            case .publish(let table): return table
            case .fail(let code): throw NetlinkSocket.failure("read the routing tables", code)
            case .ask(let request): try socket.ask(request)
            case nil: break
            }
            switch socket.read() {
            case .batch(let batch): action = dump.receive(batch)
            case .overflow: action = dump.overflowed()
            case .failure(let code): throw NetlinkSocket.failure("read the routing tables", code)
            case .nothing:
                action = nil
                var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, 1000) > 0 else {
                    throw NetlinkSocket.failure("read the routing tables", ETIMEDOUT)
                }
            }
        }
        throw NetlinkSocket.failure("read the routing tables, which keep changing", EAGAIN)
    }
}
