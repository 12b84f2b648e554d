import Glibc
import Locks

/// Holds a server back until the test lets it go on: the stand-in for every delay.
///
/// A gate opens once and stays open. Any number of answers may wait at one gate.
public final class Gate: Sendable {
    private struct State {
        var writeEnd: Int32?
        var arrivals = 0
        var observers: [(arrivals: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    /// Becomes readable (end of file) when the gate opens, so that a wait is one poll over several reasons.
    let descriptor: Int32
    private let state: Guarded<State>

    /// Makes a closed gate; ends the process when no descriptor is left, for a test cannot go on without.
    public init() {
        var ends: [Int32] = [-1, -1]
        // Closed in every child from the start, which a pipe cannot be: one that held the other end, started between two
        // calls here, would keep the gate closed.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            fatalError("a gate needs two descriptors, none are left")
        }
        descriptor = ends[0]
        state = Guarded(State(writeEnd: ends[1]))
    }

    deinit {
        open()
        close(descriptor)
    }

    /// Lets everything pass, now and later.
    public func open() {
        let end = state.withLock { state in
            defer { state.writeEnd = nil }
            return state.writeEnd
        }
        if let end { close(end) }
    }

    /// Whether ``open()`` was called.
    public var isOpen: Bool { state.withLock { $0.writeEnd == nil } }

    /// Returns as soon as something has come to this gate.
    ///
    /// A number above 1 waits for that many arrivals, those before the call counted.
    public func reached(times: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.arrivals < times { state.observers.append((times, continuation)) }
                return state.arrivals >= times
            }
            if isReached { continuation.resume() }
        }
    }

    /// Tells those who wait for an arrival.
    func arrive() {
        let reached = state.withLock { state in
            state.arrivals += 1
            let count = state.arrivals
            let reached = state.observers.filter { $0.arrivals <= count }
            state.observers.removeAll { $0.arrivals <= count }
            return reached
        }
        for observer in reached { observer.continuation.resume() }
    }

    /// Blocks the calling thread, a server's, until the gate opens.
    ///
    /// Handlers should rather answer with ``Answer/after(_:)``, which also ends when the server stops.
    ///
    /// The limit keeps a faulty test from hanging; the answer is false when it was reached.
    @discardableResult
    public func wait(upTo limit: Duration = .seconds(20)) -> Bool {
        arrive()
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, limit.milliseconds) > 0
    }
}

extension Duration {
    /// Whole milliseconds for poll, at least 0, at most about 24 days.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        let total = Double(seconds) * 1_000 + Double(attoseconds) / 1e15
        return Int32(max(0, min(total.rounded(.up), Double(Int32.max))))
    }
}
