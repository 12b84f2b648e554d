import CCurlShims

/// Which engine's thread the caller is on.
extension Engine {
    /// The engine on whose thread the caller is, of whatever transport; nil elsewhere.
    static var current: Engine? {
        nm_engine_of_thread().map { Unmanaged<Engine>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Says that this thread is the engine's, until the work is done.
    func asCurrent(_ work: () -> Void) {
        nm_set_engine_of_thread(Unmanaged.passUnretained(self).toOpaque())
        work()
        nm_set_engine_of_thread(nil)
    }
}
