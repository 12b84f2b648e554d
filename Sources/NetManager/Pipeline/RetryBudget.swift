import Locks

/// What a client may repeat in total, so that it does not multiply the load of a server that is failing already.
///
/// Every call adds ``deposit`` and every repetition takes 1: a server that fails for good sees about a tenth more
/// requests than were made, and not three times as many.
public final class RetryBudget: Sendable {
    /// The most that can be saved up, and what there is at the beginning.
    public let capacity: Double
    /// What each call adds.
    public let deposit: Double

    private let balance: Guarded<Double>

    /// Makes a budget.
    /// - Parameters:
    ///   - capacity: The repetitions that may happen at once; the default, 100, lets a program of some dozen parallel
    ///     requests outlive a server's restart.
    ///   - deposit: What each call adds; the default is 0.1.
    public init(capacity: Double = 100, deposit: Double = 0.1) {
        self.capacity = capacity
        self.deposit = deposit
        balance = Guarded(capacity)
    }

    /// The repetitions that are left.
    public var remaining: Double { balance.withLock { $0 } }

    func countCall() {
        balance.withLock { $0 = min(capacity, $0 + deposit) }
    }

    /// Takes one repetition; false when there is none.
    func take() -> Bool {
        balance.withLock { balance in
            guard balance >= 1 else { return false }
            balance -= 1
            return true
        }
    }
}
