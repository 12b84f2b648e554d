import Synchronization

/// Ties a call to its transfer.
///
/// A call may be cancelled before its command to start is taken; the flag is set before the command to cancel is
/// posted, so whichever comes first, the transfer ends.
final class TransferToken: Sendable {
    private static let numbers = Atomic<UInt64>(0)

    let id: TransferID
    private let cancelled = Atomic<Bool>(false)

    init() {
        id = TransferID(number: Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() {
        cancelled.store(true, ordering: .releasing)
    }
}
