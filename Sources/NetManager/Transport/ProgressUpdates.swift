import Locks

/// How far a call comes, both ways, as a sequence: `for await progress in task.progressUpdates`.
///
/// For a call that is awaited, put one into ``RequestOptions/progressUpdates`` and iterate over it in another task; one is
/// for one call. Each iteration gets the newest figures of each direction, at most ten times a second, and the last ones
/// as soon as the call is over; then it ends, however the call ended. A reader that is slow misses figures in between and
/// delays nobody. Totals are there where they are known: of a body to send with a length, of a response with one and
/// without a coding.
public final class ProgressUpdates: AsyncSequence, Sendable {
    /// Figures of one direction.
    public typealias Element = TransferProgress
    /// Reading never fails.
    public typealias Failure = Never

    /// The newest figures of a direction, and how often there were new ones.
    private struct Figures {
        var progress: TransferProgress?
        var version: UInt64 = 0
    }

    private struct State {
        var upload = Figures()
        var download = Figures()
        var isOver = false
        var waiters: [Race<Void>] = []
    }

    private let state = Guarded(State())

    /// Makes a sequence that has nothing yet.
    public init() {}

    /// Notes new figures; it may be called anywhere.
    func offer(_ progress: TransferProgress) {
        let waiters = state.withLock { state -> [Race<Void>] in
            switch progress.direction {
            case .upload: ProgressUpdates.note(progress, in: &state.upload)
            case .download: ProgressUpdates.note(progress, in: &state.download)
            }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.settle(.success(())) }
    }

    private static func note(_ progress: TransferProgress, in figures: inout Figures) {
        guard figures.progress != progress else { return }
        figures.progress = progress
        figures.version += 1
    }

    /// The call is over.
    func finish() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.settle(.success(())) }
    }

    /// Begins with the newest figures there are.
    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: self)
    }

    /// Draws figures.
    public struct Iterator: AsyncIteratorProtocol {
        /// Ten times a second is as often as a person can see.
        private static let interval = Duration.milliseconds(100)

        private let updates: ProgressUpdates
        private var seenUpload: UInt64 = 0
        private var seenDownload: UInt64 = 0
        private var last: ContinuousClock.Instant?

        init(updates: ProgressUpdates) {
            self.updates = updates
        }

        /// The next figures; nil when the call is over, or the reading task cancelled.
        public mutating func next() async -> TransferProgress? {
            while !Task.isCancelled {
                let (look, isOver) = updates.look(seenUpload, seenDownload)
                switch look {
                case .wait(let race):
                    await withTaskCancellationHandler {
                        _ = try? await race.value
                    } onCancel: {
                        race.settle(.success(()))
                    }
                case .end:
                    return nil
                case .figures(let progress, let version):
                    if !isOver, let last, .now < last + Self.interval {
                        try? await Task.sleep(until: last + Self.interval, clock: .continuous)
                        // By now there may be newer ones.
                        continue
                    }
                    last = .now
                    switch progress.direction {
                    case .upload: seenUpload = version
                    case .download: seenDownload = version
                    }
                    return progress
                }
            }
            return nil
        }
    }

    private enum Look {
        case figures(TransferProgress, version: UInt64)
        case wait(Race<Void>)
        case end
    }

    /// What there is that a reader has not seen, the upload first.
    private func look(_ seenUpload: UInt64, _ seenDownload: UInt64) -> (Look, isOver: Bool) {
        state.withLock { state in
            for (figures, seen) in [(state.upload, seenUpload), (state.download, seenDownload)]
            where figures.version > seen {
                if let progress = figures.progress {
                    return (.figures(progress, version: figures.version), state.isOver)
                }
            }
            guard !state.isOver else { return (.end, true) }
            let race = Race<Void>()
            state.waiters.append(race)
            return (.wait(race), false)
        }
    }
}
