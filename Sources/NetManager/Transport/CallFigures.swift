/// What a transport writes down about a call: how far it has come and what its attempts cost.
///
/// It lies with what the call is told (``CallControl``).
struct CallFigures: Sendable {
    var progress = ProgressMeter.State()
    var metrics = MetricsRecorder.State()
}
