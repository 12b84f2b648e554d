import Locks

/// Where the transport writes what each attempt of a call cost; copies share it.
package struct MetricsRecorder: Sendable {
    /// Told of an attempt's end, on the transport's thread: it may do no more than hand the news on.
    package typealias Observer = @Sendable (TransferMetrics, RequestError?) -> Void

    struct State: Sendable {
        /// Of the first attempt, which is mostly the only one.
        fileprivate var first: TransferMetrics?
        fileprivate var others: [TransferMetrics] = []
        fileprivate var observer: Observer?
    }

    let figures: Guarded<CallFigures>

    package init() {
        figures = Guarded(CallFigures())
    }

    /// What has been recorded so far, one for each attempt.
    package var metrics: [TransferMetrics] {
        withState { state in state.first.map { [$0] + state.others } ?? [] }
    }

    @inline(__always)
    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        figures.withLock { body(&$0.metrics) }
    }

    /// Names the one who is told of each end from now on.
    func observe(_ observer: @escaping Observer) {
        withState { $0.observer = observer }
    }

    /// Keeps what an attempt cost.
    /// - Returns: Who is to be told of it; nil for nobody.
    func keep(_ metrics: TransferMetrics) -> Observer? {
        withState { state in
            // Not compared with nil, for which it would be copied.
            if case nil = state.first { state.first = metrics } else { state.others.append(metrics) }
            return state.observer
        }
    }

    package func record(_ metrics: TransferMetrics, failure: RequestError? = nil) {
        if let observer = keep(metrics) { observer(metrics, failure) }
    }
}
