import Dispatch

/// Who goes along with a call that has a task: asks about it, and tells it something.
struct CallCompany {
    var control: CallControl?
    var meter: ProgressMeter?
    var metrics: MetricsRecorder?
    /// Told of progress instead of the handler among the call's options.
    var progress: ProgressHandler?
    var progressQueue: DispatchQueue?
}
