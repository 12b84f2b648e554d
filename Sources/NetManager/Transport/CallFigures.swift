import Locks

/// What a transport writes down about a call: how far it has come and what its attempts cost.
///
/// Together, as a call with closures has both and each lock is a block of memory.
struct CallFigures: Sendable {
    var progress = ProgressMeter.State()
    var metrics = MetricsRecorder.State()
}
