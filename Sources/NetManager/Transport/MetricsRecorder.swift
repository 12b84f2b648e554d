import Locks

/// Where the transport writes what each attempt of a call cost; copies share it.
package struct MetricsRecorder: Sendable {
    /// Told of an attempt's end, on the transport's thread: it may do no more than hand the news on.
    package typealias Observer = @Sendable (TransferMetrics, RequestError?) -> Void

    private struct State {
        var metrics: [TransferMetrics] = []
        var observer: Observer?
    }

    private let state = Guarded(State())

    package init() {}

    /// What has been recorded so far, one for each attempt.
    package var metrics: [TransferMetrics] { state.withLock(\.metrics) }

    /// Names the one who is told of each end from now on.
    func observe(_ observer: @escaping Observer) {
        state.withLock { $0.observer = observer }
    }

    package func record(_ metrics: TransferMetrics, failure: RequestError? = nil) {
        let observer = state.withLock { state in
            state.metrics.append(metrics)
            return state.observer
        }
        observer?(metrics, failure)
    }
}
