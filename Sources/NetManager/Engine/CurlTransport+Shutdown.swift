/// The end of a transport.
extension CurlTransport {
    /// Ends the transport at once: requests under way fail as ``RequestError/Kind/shutDown``, later ones are refused.
    public func shutdown() {
        for engine in engines { engine.stop() }
    }

    /// Ends the transport in good order.
    ///
    /// New requests are refused at once as ``RequestError/Kind/shutDown``. Those under way may end until the deadline,
    /// content that is still being read included; then they fail as `shutDown`. Idle connections and threads are gone
    /// when this returns. A retry or a redirect is a new request: shut the managers down first, which let theirs end.
    /// Cancelling the task that waits moves the deadline to that moment. It may be called any number of times.
    /// - Parameter deadline: How long requests under way may take, from now on.
    /// - Returns: Whether all of them ended by themselves.
    @discardableResult
    public func shutdown(deadline: Duration) async -> Bool {
        await shutdown(deadline: .now.advanced(by: min(deadline, .longest)))
    }

    /// Ends the transport in good order, as ``shutdown(deadline:)-(Duration)`` does, at the latest at a moment.
    /// - Parameter deadline: When requests under way must have ended.
    /// - Returns: Whether all of them ended by themselves.
    @discardableResult
    public func shutdown(deadline: ContinuousClock.Instant) async -> Bool {
        let engines = engines
        for engine in engines { engine.refuseTransfers() }
        var isDrained = true
        // One after the other: none gets anything new to do.
        for engine in engines {
            let isIdle = await Patience.wait(until: deadline) { isDone in
                if !engine.post(ifRunning: .whenIdle(isDone)) { isDone() }
            }
            isDrained = isDrained && isIdle
        }
        for engine in engines { engine.stop() }
        for engine in engines {
            await withUnsafeContinuation { done in
                engine.whenEnded { done.resume() }
            }
        }
        return isDrained
    }

    /// Closes the connections that are kept for later requests.
    ///
    /// While requests are under way, it happens as soon as there are none. TLS sessions are kept: the next connection
    /// resumes them.
    public func closeIdleConnections() {
        for engine in engines { engine.post(ifRunning: .closeIdleConnections) }
    }
}
