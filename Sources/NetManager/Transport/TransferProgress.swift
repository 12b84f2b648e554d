/// How far a transfer has come.
public struct TransferProgress: Sendable, Hashable {
    /// The direction that the figures are about.
    public enum Direction: Sendable, Hashable {
        /// The request's body.
        case upload
        /// The response's body.
        case download
    }

    /// The direction.
    public var direction: Direction
    /// Bytes of the body so far, as they are on the wire.
    public var completed: Int64
    /// All bytes of the body; nil when it is not known.
    public var total: Int64?

    /// Makes a progress value.
    public init(direction: Direction, completed: Int64, total: Int64? = nil) {
        self.direction = direction
        self.completed = completed
        self.total = total
    }

    /// The part that is done, 0…1; nil when the total is not known.
    public var fraction: Double? {
        guard let total else { return nil }
        return total == 0 ? 1 : min(1, Double(completed) / Double(total))
    }
}

/// Told how far a transfer has come.
///
/// It is called on no particular thread, in order, at most a few times a second and once at the end.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void
