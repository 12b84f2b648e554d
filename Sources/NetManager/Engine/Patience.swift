import Locks

/// Waits for something that is told once, for as long as somebody has patience.
enum Patience {
    /// Waits until it is told that something has happened, a moment has come, or the waiting task is cancelled.
    /// - Parameters:
    ///   - deadline: When to wait no longer.
    ///   - begin: Is given what must be called, from any thread, as often as one likes, when it has happened.
    /// - Returns: Whether it has happened.
    static func wait(
        until deadline: ContinuousClock.Instant,
        _ begin: (_ isDone: @escaping @Sendable () -> Void) -> Void
    ) async -> Bool {
        let race = Race<Bool>()
        begin { race.settle(.success(true)) }
        let timer = Task {
            try? await ContinuousClock().sleepLong(until: deadline)
            race.settle(.success(false))
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            (try? await race.value) ?? false
        } onCancel: {
            race.settle(.success(false))
        }
    }
}

/// A result that several may bring, of which the first counts.
final class Race<Value: Sendable>: Sendable {
    private enum State {
        case open(UnsafeContinuation<Value, any Error>?)
        case settled(Result<Value, any Error>)
    }

    private let state = Guarded(State.open(nil))

    /// Brings a result; it is dropped when there is one already.
    func settle(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> UnsafeContinuation<Value, any Error>? in
            guard case .open(let waiter) = state else { return nil }
            state = .settled(result)
            return waiter
        }
        waiter?.resume(with: result)
    }

    /// The first result; one task may wait for it.
    var value: Value {
        get async throws {
            try await withUnsafeThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    if case .settled(let result) = state { return result }
                    state = .open(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }
}

extension ContinuousClock {
    /// Sleeps until a moment that may be a hundred years away, more than a timer of the system takes.
    func sleepLong(until deadline: Instant) async throws {
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return }
            try await Task.sleep(for: min(left, .seconds(86_400)), clock: self)
        }
    }
}
