import Locks

/// Where the transport writes what each attempt of a call cost; copies share it.
package struct MetricsRecorder: Sendable {
    /// Told of an attempt's end, on the transport's thread: it may do no more than hand the news on.
    package typealias Observer = @Sendable (TransferMetrics, RequestError?) -> Void

    struct State: Sendable {
        /// Of the first attempt, which is mostly the only one.
        fileprivate var first: MeasuredAttempt?
        fileprivate var others: [MeasuredAttempt] = []
        fileprivate var observer: Observer?
    }

    private let call: Guarded<CallControl.State>

    package init() {
        self.init(of: CallControl())
    }

    /// Makes the recorder of a call.
    init(of control: CallControl) {
        call = control.state
    }

    /// What has been recorded so far, one for each attempt.
    package var metrics: [TransferMetrics] {
        let attempts = withState { state in state.first.map { [$0] + state.others } ?? [] }
        return attempts.map(\.metrics)
    }

    @inline(__always)
    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        call.withLock { body(&$0.figures.metrics) }
    }

    /// Names the one who is told of each end from now on.
    func observe(_ observer: @escaping Observer) {
        withState { $0.observer = observer }
    }

    /// Keeps what an attempt cost.
    /// - Parameters:
    ///   - attempt: What was measured.
    ///   - failure: What it failed with; asked for where somebody is told of it.
    func record(_ attempt: MeasuredAttempt, failure: @autoclosure () -> RequestError?) {
        let observer = withState { state in
            if case nil = state.first { state.first = attempt } else { state.others.append(attempt) }
            return state.observer
        }
        if let observer { observer(attempt.metrics, failure()) }
    }
}
