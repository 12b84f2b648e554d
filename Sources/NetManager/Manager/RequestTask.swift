/// A call that was made with closures.
///
/// Keeping it is not needed: the call goes on without.
public final class RequestTask: Sendable {
    /// What a call is doing, in the words of `URLSessionTask.State`.
    public enum State: Sendable, Hashable {
        /// It is under way.
        case running
        /// It is paused until ``RequestTask/resume()``.
        case suspended
        /// It was cancelled, and the outcome is still to be delivered.
        case canceling
        /// The outcome has been delivered.
        case completed
    }

    let control = CallControl()
    var recorder: MetricsRecorder { MetricsRecorder(of: control) }
    var meter: ProgressMeter { ProgressMeter(of: control) }

    /// How far the call has come: the figures of the upload until the response begins, then those of the download.
    public var progress: TransferProgress { meter.progress }

    /// How far the call comes, as a sequence that ends with the call.
    ///
    /// It begins with the figures of this moment; the call goes on whether somebody iterates or not.
    public var progressUpdates: ProgressUpdates {
        let updates = ProgressUpdates()
        meter.tell(updates)
        return updates
    }

    /// What each attempt cost, retries and redirects included: those that are over, in order.
    ///
    /// All of them are there when `success` or `failure` is called. Transports other than libcurl may keep no figures.
    public var metrics: [TransferMetrics] { recorder.metrics }

    /// Whether ``cancel()`` was called before the outcome was delivered.
    public var isCancelled: Bool { control.ending.isCancelled }

    /// Whether the outcome has been delivered.
    public var isFinished: Bool { control.ending.isFinished }

    /// What the call is doing at this moment.
    public var state: State {
        let (isCancelled, isFinished) = control.ending
        if isFinished { return .completed }
        if isCancelled { return .canceling }
        return control.isPaused ? .suspended : .running
    }

    /// How urgent the call is, beside others that wait for a connection; it can be changed while it waits.
    ///
    /// It begins as ``RequestOptions/priority``.
    public var priority: RequestPriority {
        get { control.priority }
        set { control.priority = newValue }
    }

    /// Pauses the call, from any thread: nothing is sent or received until ``resume()``.
    ///
    /// What was not sent yet is not sent, and a connection that is being made for it is given up. What the server sends
    /// meanwhile waits in the system's buffers, and then the server does. No limit counts the time of a pause, neither
    /// the whole time of the call nor those of its stages, such as ``Timeouts/idle``; but a server does not wait for
    /// ever, and a connection that it closed meanwhile fails the call after the pause. Suspending twice is suspending
    /// once; suspending a call that is cancelled or over does nothing. The outcome of what has arrived already may still
    /// be delivered. ``EventMonitor/callSuspended(_:)`` is told.
    public func suspend() {
        guard control.ending == (false, false) else { return }
        control.pause()
    }

    /// Lets a suspended call go on, from any thread; one that is not suspended goes on as it does.
    ///
    /// ``EventMonitor/callResumed(_:)`` is told.
    public func resume() {
        control.goOn()
    }

    /// Ends the call, suspended or not, from any thread, as often as one likes.
    ///
    /// `failure` is called with ``RequestError/Kind/cancelled``, unless the outcome was delivered already: once this
    /// returns, `success` is not called any more. The server may have acted on the request all the same.
    public func cancel() {
        control.cancel()
    }

    /// Decides, once and for all, whether the outcome is what came or a cancellation.
    /// - Returns: Whether the call was cancelled before.
    func finish() -> Bool {
        let isCancelled = control.finish()
        meter.finish()
        return isCancelled
    }
}
