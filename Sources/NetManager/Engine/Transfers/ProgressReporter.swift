import Dispatch
import Locks

/// Tells a handler how far a transfer has come, on a queue and not too often.
final class ProgressReporter: Sendable {
    /// Ten times a second is as often as a person can see, and seldom enough to cost nothing.
    private static let interval: UInt64 = 100_000_000
    private static let defaultQueue = DispatchQueue(label: "NetManager.progress")

    private struct Last {
        var time: UInt64 = 0
        var progress: TransferProgress?
    }

    private let handler: ProgressHandler
    private let queue: DispatchQueue
    private let last: Guarded<[TransferProgress.Direction: Last]> = Guarded([:])

    init(handler: @escaping ProgressHandler, queue: DispatchQueue?) {
        self.handler = handler
        self.queue = queue ?? Self.defaultQueue
    }

    /// Reports figures when they are new and the last report is long enough ago, or when they are final.
    func report(_ progress: TransferProgress, isFinal: Bool = false) {
        let now = MonotonicClock.nanoseconds
        let isDue = last.withLock { last in
            let before = last[progress.direction] ?? Last()
            guard before.progress != progress, isFinal || now - before.time >= Self.interval else {
                return false
            }
            last[progress.direction] = Last(time: now, progress: progress)
            return true
        }
        guard isDue else { return }
        queue.async { [handler] in handler(progress) }
    }
}
