import Dispatch

/// Who goes along with a call that has a task: asks about it, and tells it something.
struct CallCompany {
    /// Tells the call to end or to pause, and knows what it has cost; nil for a call that somebody awaits.
    var task: RequestTask?
    /// Whether the transport writes down how far the call has come, for the task.
    var writesProgress = true
    /// Told of progress instead of the handler among the call's options.
    var progress: ProgressHandler?
    var progressQueue: DispatchQueue?
}
