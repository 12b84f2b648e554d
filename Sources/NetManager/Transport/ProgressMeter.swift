import Locks

/// Holds how far a call has come, for whoever asks.
///
/// Writing is a lock and two stores and runs no user's code, so a transport may do it on its own thread. Copies share
/// the figures.
package struct ProgressMeter: Sendable {
    struct State: Sendable {
        fileprivate var progress = TransferProgress(direction: .download, completed: 0)
        fileprivate var updates: [ProgressUpdates] = []
        fileprivate var isOver = false
    }

    private let call: Guarded<CallControl.State>

    package init() {
        self.init(of: CallControl())
    }

    /// Makes the meter of a call.
    init(of control: CallControl) {
        call = control.state
    }

    @inline(__always)
    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        call.withLock { body(&$0.figures.progress) }
    }

    /// The figures that were written last.
    package var progress: TransferProgress { withState(\.progress) }

    /// Writes new figures.
    package func record(_ progress: TransferProgress) {
        let updates = withState { state in
            state.progress = progress
            return state.updates
        }
        for sequence in updates { sequence.offer(progress) }
    }

    /// Writes the figures of a response that is there, where no others of its content were written.
    func settle(download count: Int64) {
        let figures = TransferProgress(direction: .download, completed: count, total: count)
        let updates = withState { state -> [ProgressUpdates] in
            guard state.progress.direction == .upload || state.progress.completed == 0 else { return [] }
            state.progress = figures
            return state.updates
        }
        for sequence in updates { sequence.offer(figures) }
    }

    /// Writes figures that come from a queue, unless the transport has written later ones meanwhile.
    private func advance(to progress: TransferProgress) {
        let updates = withState { state -> [ProgressUpdates] in
            let last = state.progress
            let isLater =
                last.completed == 0
                || (last.direction == progress.direction
                    ? last.completed < progress.completed : progress.direction == .download)
            guard isLater else { return [] }
            state.progress = progress
            return state.updates
        }
        for sequence in updates { sequence.offer(progress) }
    }

    /// The call is over.
    package func finish() {
        let updates = withState { state in
            state.isOver = true
            defer { state.updates = [] }
            return state.updates
        }
        for sequence in updates { sequence.finish() }
    }

    /// Lets a sequence have the figures from now on, those that were written last included.
    func tell(_ updates: ProgressUpdates) {
        let (progress, isOver) = withState { state in
            if !state.isOver { state.updates.append(updates) }
            return (state.progress, state.isOver)
        }
        if progress.completed > 0 { updates.offer(progress) }
        if isOver { updates.finish() }
    }

    /// A handler that finds the figures written already when it is told of them; nil for none.
    func recording(before handler: ProgressHandler?) -> ProgressHandler? {
        guard let handler else { return nil }
        return { progress in
            self.advance(to: progress)
            handler(progress)
        }
    }
}
