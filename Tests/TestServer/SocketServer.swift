import CLinux
import Glibc
import Locks

/// Accepts connections and gives each a thread; ends all of them.
///
/// Does not know its owner, so that the owner's last reference can end it.
final class SocketServer: Sendable {
    /// What is done with the connections; each is called on the connection's thread, but for `accepted`, which
    /// is called on the accepting one.
    struct Service: Sendable {
        var accepted: @Sendable (Int) -> Void
        /// Serves a connection to its end; the descriptor is closed by the caller.
        var serve: @Sendable (_ descriptor: Int32, _ id: Int, _ stop: Gate) -> Void
        var ended: @Sendable (Int) -> Void
    }

    private struct State {
        var isStopping = false
        var accepting: ServerThread?
        /// Open connections: shut down from outside under the lock, closed by their threads under it too, so
        /// that a number is never used after it went to somebody else.
        var descriptors: [Int: Int32] = [:]
        var threads: [Int: ServerThread] = [:]
        var finished: [ServerThread] = []
    }

    /// Opens when the server stops.
    let stopGate = Gate()
    var port: Int { socket.port }

    private let socket: ListeningSocket
    private let service: Service
    private let state = Guarded(State())

    init(_ place: ServerOptions.Listen, _ service: Service) throws {
        socket = try ListeningSocket(place)
        self.service = service
        do {
            let thread = try ServerThread { [self] in accept() }
            state.withLock { $0.accepting = thread }
        } catch {
            socket.end()
            throw error
        }
    }

    /// Closes everything and waits for the threads; a second call does nothing.
    func stop() {
        let accepting = state.withLock { state in
            defer { state.accepting = nil }
            state.isStopping = true
            return state.accepting
        }
        guard let accepting else { return }
        stopGate.open()
        closeConnections()
        socket.interrupt()
        accepting.join()
        joinConnections()
        socket.end()
    }

    /// Shuts every open connection down; their threads see the end and finish.
    func closeConnections() {
        state.withLock { state in
            for descriptor in state.descriptors.values { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    private func accept() {
        var id = 0
        while !stopGate.isOpen {
            // Closed from the start in every program that is started meanwhile: one that held a connection would keep
            // its client waiting for the end.
            let descriptor = accept4(socket.descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS {
                    // Nothing to be had now; ask again soon, or end with the server.
                    stopGate.waitQuietly(upTo: .milliseconds(5))
                }
                continue
            }
            start(descriptor, id)
            id += 1
            reap()
        }
    }

    private func start(_ descriptor: Int32, _ id: Int) {
        service.accepted(id)
        let isStopping = state.withLock { state in
            if !state.isStopping { state.descriptors[id] = descriptor }
            return state.isStopping
        }
        guard !isStopping else {
            close(descriptor)
            return service.ended(id)
        }
        do {
            // The lock is held over the start: the thread's own end finds itself in the table.
            try state.withLock { state in
                state.threads[id] = try ServerThread { [self] in
                    service.serve(descriptor, id, stopGate)
                    finish(descriptor, id)
                }
            }
        } catch {
            finish(descriptor, id)
        }
    }

    private func finish(_ descriptor: Int32, _ id: Int) {
        state.withLock { state in
            state.descriptors[id] = nil
            close(descriptor)
            if let thread = state.threads.removeValue(forKey: id) { state.finished.append(thread) }
        }
        service.ended(id)
    }

    /// Joins the threads that have ended.
    private func reap() {
        let finished = state.withLock { state in
            defer { state.finished = [] }
            return state.finished
        }
        for thread in finished { thread.join() }
    }

    private func joinConnections() {
        while true {
            let threads = state.withLock { state in
                defer {
                    state.threads = [:]
                    state.finished = []
                }
                return state.threads.values + state.finished
            }
            if threads.isEmpty { return }
            for thread in threads { thread.join() }
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
