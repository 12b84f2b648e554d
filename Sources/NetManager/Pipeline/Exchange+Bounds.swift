import HTTPMessage

/// Ends a call in time although code that others wrote stands on its way.
extension Exchange {
    /// How long such code may take to notice that its task was cancelled, before the call ends without it.
    ///
    /// The transport's own error says more than this one, so it gets the time to arrive.
    private static let grace = Duration.milliseconds(20)

    /// Runs the steps of the call in a task of their own and returns when they are over, or when they must be: when the
    /// whole time has passed, the manager is shut down, or the calling task is cancelled.
    ///
    /// Steps that do not end then are left to themselves; what they bring in the end is dropped.
    func bounded<Value: Sendable>(
        _ steps: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let race = Race<Value>()
        let work = Task {
            do {
                race.settle(.success(try await steps()))
            } catch {
                race.settle(.failure(error))
            }
        }
        let watch = Task {
            try await self.untilOverdue()
            try await Task.sleep(for: Self.grace, clock: .continuous)
            race.settle(.failure(self.interruption(.timedOut(.total))))
            work.cancel()
        }
        control.attach {
            race.settle(.failure(self.interruption(.shutDown)))
            work.cancel()
        }
        defer {
            watch.cancel()
            control.attach(steps: nil)
        }
        return try await withTaskCancellationHandler {
            try await race.value
        } onCancel: {
            work.cancel()
            Task {
                try? await Task.sleep(for: Self.grace, clock: .continuous)
                race.settle(.failure(CancellationError()))
            }
        }
    }

    private func interruption(_ kind: RequestError.Kind) -> RequestError {
        let detail: String? =
            if case .timedOut = kind { "An interceptor, a hook or the transport did not end in time." } else {
                nil
            }
        return RequestError(kind, for: request, attempt: attempts, detail: detail)
    }

    /// Sleeps until the whole time of the call has passed, pauses not counted.
    private func untilOverdue() async throws {
        while let deadline {
            try await control.untilGoingOn()
            try Task.checkCancellation()
            guard Moment.now < deadline || control.isPaused else { return }
            try await ContinuousClock().sleepLong(until: deadline.instant)
        }
        try await ContinuousClock().sleepLong(until: .now + .longest)
    }
}
