public import Foundation
public import NetManager

extension Progress {
    /// Makes a handler that tells this object how far a transfer has come.
    ///
    /// Units are bytes; the total is −1 while it is not known. The properties change on no particular thread.
    /// - Parameter direction: The direction to tell of; the other one is left out.
    /// - Returns: A handler for one call. It keeps this object.
    public func handler(for direction: TransferProgress.Direction = .download) -> ProgressHandler {
        { progress in
            guard progress.direction == direction else { return }
            self.totalUnitCount = progress.total ?? -1
            self.completedUnitCount = progress.completed
        }
    }

    /// Cancels a call when this object is cancelled.
    public func cancels(_ task: RequestTask) {
        cancellationHandler = { task.cancel() }
    }
}
