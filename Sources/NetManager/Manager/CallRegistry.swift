import Locks

/// The calls of a manager that are under way, so that they can be waited for and ended.
final class CallRegistry: Sendable {
    /// Where a call is noted.
    struct Place {
        fileprivate let index: Int
    }

    private struct State {
        /// By place: finding one by hash would cost each call more than all the rest of the registry.
        var calls: [CallControl?] = []
        var free: [Int] = []
        var isClosed = false
        /// Told when the last call has left.
        var waiters: [@Sendable () -> Void] = []

        var isEmpty: Bool { free.count == calls.count }
    }

    private let state = Guarded(State())

    /// Notes a call.
    /// - Returns: Its place, for leaving; nil when no calls are taken any more.
    func enter(_ call: CallControl) -> Place? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            guard let index = state.free.popLast() else {
                state.calls.append(call)
                return Place(index: state.calls.endIndex - 1)
            }
            state.calls[index] = call
            return Place(index: index)
        }
    }

    /// Forgets a call; a second time does nothing, also when another call has its place by then.
    func leave(_ call: CallControl, _ place: Place) {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            guard state.calls.indices.contains(place.index), let found = state.calls[place.index],
                found === call
            else { return [] }
            state.calls[place.index] = nil
            state.free.append(place.index)
            guard state.isEmpty else { return [] }
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
            if !state.isEmpty { state.waiters.append(waiter) }
            return state.isEmpty
        }
        if isEmpty { waiter() }
    }

    /// Ends every call that is under way.
    func endAll() {
        for call in state.withLock({ $0.calls.compactMap(\.self) }) { call.shutDown() }
    }
}
