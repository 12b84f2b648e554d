import Locks
import NetManager
import SecurityPolicy

/// Keeps what the manager tells about one call.
final class CallRecorder: EventMonitor {
    private let state = Guarded<CallEnd?>(nil)
    private let isOver: AsyncStream<Void>
    private let over: AsyncStream<Void>.Continuation

    init() {
        (isOver, over) = AsyncStream<Void>.makeStream()
    }

    func callEnded(_ end: CallEnd, of call: MonitoredCall) {
        state.withLock { $0 = end }
        over.finish()
    }

    /// How the call ended, once it has; only to be asked after a call that was begun.
    func end() async -> CallEnd? {
        for await _ in isOver {}
        return state.withLock { $0 }
    }

    /// Why the server was trusted in the last attempt that got so far.
    func decision() async -> TrustDecision? {
        await end()?.metrics.last { $0.trust != nil }?.trust
    }
}
