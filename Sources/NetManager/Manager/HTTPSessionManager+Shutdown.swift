extension HTTPSessionManager {
    /// Ends the manager in good order.
    ///
    /// New calls fail at once as ``RequestError/Kind/shutDown``. Calls under way, with their retries and redirects, may
    /// end until the deadline; then they fail as `shutDown`. Each has exactly one outcome. The transport is told to close
    /// idle connections; it goes on for other managers that share it (``CurlTransport/shutdown(deadline:)-(Duration)``
    /// ends it). A manager stays shut down. This may be called any number of times, from any thread; the earliest deadline
    /// counts. Cancelling the task that waits moves the deadline to that moment.
    ///
    /// Under a service lifecycle, `run()` waits for the signal and then calls this: the package ServiceLifecycle needs
    /// no more than
    ///
    /// ```swift
    /// func run() async throws {
    ///     try await gracefulShutdown()
    ///     await manager.shutdown(deadline: .seconds(10))
    /// }
    /// ```
    /// - Parameter deadline: How long calls under way may take, from now on; zero ends them at once.
    /// - Returns: Whether all of them ended by themselves.
    @discardableResult
    public func shutdown(deadline: Duration) async -> Bool {
        await shutdown(deadline: .now.advanced(by: min(deadline, .longest)))
    }

    /// Ends the manager in good order, as ``shutdown(deadline:)-(Duration)`` does, at the latest at a moment.
    /// - Parameter deadline: When calls under way must have ended.
    /// - Returns: Whether all of them ended by themselves.
    @discardableResult
    public func shutdown(deadline: ContinuousClock.Instant) async -> Bool {
        calls.close()
        let areOver = await Patience.wait(until: deadline) { [calls] in calls.whenEmpty($0) }
        if !areOver {
            calls.endAll()
            // They end at once, but for users' code that reads a stream or serializes: nobody waits long for that. A
            // task of its own waits even if this one is cancelled.
            let calls = calls
            await Task {
                _ = await Patience.wait(until: .now + .seconds(1)) { calls.whenEmpty($0) }
            }.value
        }
        (transport as? any ConnectionKeeping)?.closeIdleConnections()
        return areOver
    }
}
