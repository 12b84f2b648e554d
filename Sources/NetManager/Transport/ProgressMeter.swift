import Locks

/// Holds how far a call has come, for whoever asks.
///
/// Writing is a lock and two stores and runs no user's code, so a transport may do it on its own thread.
package final class ProgressMeter: Sendable {
    private let value = Guarded(TransferProgress(direction: .download, completed: 0))

    package init() {}

    /// The figures that were written last.
    package var progress: TransferProgress { value.withLock { $0 } }

    /// Writes new figures.
    package func record(_ progress: TransferProgress) {
        value.withLock { $0 = progress }
    }

    /// A handler that finds the figures written already when it is told of them; nil for none.
    func recording(before handler: ProgressHandler?) -> ProgressHandler? {
        guard let handler else { return nil }
        return { progress in
            self.record(progress)
            handler(progress)
        }
    }
}
