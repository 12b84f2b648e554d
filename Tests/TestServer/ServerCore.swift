import Glibc
import HTTPMessage
import Locks

/// What all threads of a server share; does not know the ``TestServer``, so that the last reference to that
/// one can end it.
final class ServerCore: Sendable {
    let options: ServerOptions
    let handler: TestServer.Handler
    let log = ServerLog()
    /// Opens when the server stops.
    let stop = Gate()

    private struct State {
        var isStopping = false
        var tls: TLSContext?
        /// Open connections: shut down from outside under the lock, closed by their threads under it too, so
        /// that a number is never used after it went to somebody else.
        var descriptors: [Int: Int32] = [:]
        var threads: [Int: ServerThread] = [:]
        var finished: [ServerThread] = []
    }

    private let state: Guarded<State>

    init(options: ServerOptions, tls: TLSContext?, handler: @escaping TestServer.Handler) {
        self.options = options
        self.handler = handler
        state = Guarded(State(tls: tls))
    }

    var tls: TLSContext? {
        get { state.withLock { $0.tls } }
        set { state.withLock { $0.tls = newValue } }
    }

    /// Accepts until the server stops; runs on a thread of its own.
    func accept(on socket: ListeningSocket) {
        var id = 0
        while !stop.isOpen {
            let descriptor = Glibc.accept(socket.descriptor, nil, nil)
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS {
                    // Nothing to be had now; ask again soon, or end with the server.
                    stop.waitQuietly(upTo: .milliseconds(5))
                }
                continue
            }
            keepFromChildren(descriptor)
            start(descriptor, id)
            id += 1
            reap()
        }
    }

    private func start(_ descriptor: Int32, _ id: Int) {
        log.accepted(id)
        let isStopping = state.withLock { state in
            if !state.isStopping { state.descriptors[id] = descriptor }
            return state.isStopping
        }
        guard !isStopping else {
            close(descriptor)
            return log.ended(id)
        }
        do {
            // The lock is held over the start: the thread's own end finds itself in the table.
            try state.withLock { state in
                state.threads[id] = try ServerThread { [self] in serve(descriptor, id) }
            }
        } catch {
            finish(descriptor, id)
        }
    }

    private func serve(_ descriptor: Int32, _ id: Int) {
        let wire = Wire(descriptor: descriptor, id: id, log: log)
        Connection(core: self, wire: wire, id: id).run()
        wire.free()
        finish(descriptor, id)
    }

    private func finish(_ descriptor: Int32, _ id: Int) {
        state.withLock { state in
            state.descriptors[id] = nil
            close(descriptor)
            if let thread = state.threads.removeValue(forKey: id) { state.finished.append(thread) }
        }
        log.ended(id)
    }

    /// Joins the threads that have ended.
    private func reap() {
        let finished = state.withLock { state in
            defer { state.finished = [] }
            return state.finished
        }
        for thread in finished { thread.join() }
    }

    /// Shuts every open connection down; their threads see the end and finish.
    func closeConnections() {
        state.withLock { state in
            for descriptor in state.descriptors.values { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Ends every connection and waits for all threads.
    func stopServing() {
        stop.open()
        state.withLock { $0.isStopping = true }
        closeConnections()
    }

    func joinConnections() {
        while true {
            let (running, finished) = state.withLock { state in
                defer {
                    state.threads = [:]
                    state.finished = []
                }
                return (state.threads.values.map { $0 }, state.finished)
            }
            if running.isEmpty, finished.isEmpty { return }
            for thread in running + finished { thread.join() }
        }
    }
}

extension Gate {
    /// Waits on the calling thread without counting as an arrival.
    func waitQuietly(upTo limit: Duration) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, limit.milliseconds)
    }
}
