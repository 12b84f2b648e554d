import Dispatch
import Locks

/// A call that was made with closures.
///
/// Keeping it is not needed: the call goes on without.
public final class RequestTask: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
        var isFinished = false
    }

    private let state = Guarded(State())
    let meter = ProgressMeter()
    let recorder = MetricsRecorder()

    init() {}

    /// How far the call has come: the figures of the upload until the response begins, then those of the download.
    public var progress: TransferProgress { meter.progress }

    /// What each attempt cost, retries and redirects included: those that are over, in order.
    ///
    /// All of them are there when `success` or `failure` is called. Transports other than libcurl may keep no figures.
    public var metrics: [TransferMetrics] { recorder.metrics }

    /// Whether ``cancel()`` was called before the outcome was delivered.
    public var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Whether the outcome has been delivered.
    public var isFinished: Bool { state.withLock(\.isFinished) }

    /// Ends the call, from any thread, as often as one likes.
    ///
    /// `failure` is called with ``RequestError/Kind/cancelled``, unless the outcome was delivered already: once this
    /// returns, `success` is not called any more. The server may have acted on the request all the same.
    public func cancel() {
        let task = state.withLock { state in
            guard !state.isFinished else { return nil as Task<Void, Never>? }
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Takes over the task that carries the call.
    ///
    /// One that was cancelled before is cancelled now.
    func attach(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            if !state.isFinished { state.task = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Decides, once and for all, whether the outcome is what came or a cancellation.
    /// - Returns: Whether the call was cancelled before.
    func finish() -> Bool {
        let (isCancelled, task) = state.withLock { state in
            state.isFinished = true
            return (state.isCancelled, state.task.take())
        }
        // Let go of after the lock: the task holds the closures, and they may hold anything.
        _ = consume task
        return isCancelled
    }
}
