import Locks

/// Where the transport writes what each attempt of a call cost.
package final class MetricsRecorder: Sendable {
    private let recorded = Guarded<[TransferMetrics]>([])

    package init() {}

    /// What has been recorded so far, one for each attempt.
    package var metrics: [TransferMetrics] { recorded.withLock { $0 } }

    package func record(_ metrics: TransferMetrics) {
        recorded.withLock { $0.append(metrics) }
    }
}
