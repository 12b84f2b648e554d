import Locks

/// The calls of a manager that are under way, so that they can be waited for and ended.
final class CallRegistry: Sendable {
    /// Where a call is noted.
    struct Entry: Sendable {
        private let registry: CallRegistry
        private let index: Int

        fileprivate init(in registry: CallRegistry, at index: Int) {
            self.registry = registry
            self.index = index
        }

        /// Forgets the call; a second time does nothing, also when another call has its place by then.
        func leave(_ call: CallControl) {
            registry.leave(call, at: index)
        }
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
    /// - Returns: Its entry, for leaving; nil when no calls are taken any more.
    func enter(_ call: CallControl) -> Entry? {
        let index = state.withLock { state -> Int? in
            guard !state.isClosed else { return nil }
            guard let index = state.free.popLast() else {
                state.calls.append(call)
                return state.calls.endIndex - 1
            }
            state.calls[index] = call
            return index
        }
        return index.map { Entry(in: self, at: $0) }
    }

    private func leave(_ call: CallControl, at index: Int) {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            guard state.calls.indices.contains(index), let found = state.calls[index], found === call else {
                return []
            }
            state.calls[index] = nil
            state.free.append(index)
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
