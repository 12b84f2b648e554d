import FoundationEssentials

/// Where the manager's own steps take the time from: the system's clocks, or a test's.
///
/// A class, as each call keeps it and it holds five references.
package final class TimeSource: Sendable {
    /// The time that deadlines are in.
    package let now: @Sendable () -> ContinuousClock.Instant
    /// The same, as the library keeps it.
    package let moment: @Sendable () -> Moment
    /// The time of the calendar, for dates that servers send.
    package let date: @Sendable () -> Date
    /// Waits; throws `CancellationError` at once when the task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 up to 1, for jitter.
    package let random: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        moment: (@Sendable () -> Moment)? = nil,
        date: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.moment = moment ?? { Moment(now()) }
        self.date = date
        self.sleep = sleep
        self.random = random
    }

    /// The system's clocks.
    package static let system = TimeSource(
        now: { ContinuousClock.now },
        moment: { Moment.now },
        date: { Date() },
        sleep: { try await Task.sleep(for: $0, clock: .continuous) },
        random: { Double.random(in: 0..<1) }
    )
}
