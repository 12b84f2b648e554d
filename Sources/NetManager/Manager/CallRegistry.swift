import Locks

/// The calls of a manager that are under way, so that they can be waited for and ended.
final class CallRegistry: Sendable {
    private struct State {
        var calls: [ObjectIdentifier: CallControl] = [:]
        var isClosed = false
        /// Told when the last call has left.
        var waiters: [@Sendable () -> Void] = []
    }

    private let state = Guarded(State())

    /// Notes a call.
    /// - Returns: False when no calls are taken any more.
    func enter(_ call: CallControl) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.calls[ObjectIdentifier(call)] = call
            return true
        }
    }

    /// Forgets a call; a second time does nothing.
    func leave(_ call: CallControl) {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            guard state.calls.removeValue(forKey: ObjectIdentifier(call)) != nil, state.calls.isEmpty else {
                return []
            }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter() }
    }

    /// Takes no calls any more.
    func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Calls a closure as soon as no call is under way.
    func whenEmpty(_ waiter: @escaping @Sendable () -> Void) {
        let isEmpty = state.withLock { state in
            if !state.calls.isEmpty { state.waiters.append(waiter) }
            return state.calls.isEmpty
        }
        if isEmpty { waiter() }
    }

    /// Ends every call that is under way.
    func endAll() {
        for call in state.withLock({ Array($0.calls.values) }) { call.shutDown() }
    }
}
