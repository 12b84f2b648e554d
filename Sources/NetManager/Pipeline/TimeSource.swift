import FoundationEssentials

/// Where the manager's own steps take the time from: the system's clocks, or a test's.
package struct TimeSource: Sendable {
    /// The time that deadlines are in.
    package var now: @Sendable () -> ContinuousClock.Instant
    /// The same, as the library keeps it.
    package var moment: @Sendable () -> Moment
    /// The time of the calendar, for dates that servers send.
    package var date: @Sendable () -> Date
    /// Waits; throws `CancellationError` at once when the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 up to 1, for jitter.
    package var random: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        date: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        moment = { Moment(now()) }
        self.date = date
        self.sleep = sleep
        self.random = random
    }

    /// The system's clocks.
    package static let system: TimeSource = {
        var source = TimeSource(
            now: { ContinuousClock.now },
            date: { Date() },
            sleep: { try await Task.sleep(for: $0, clock: .continuous) },
            random: { Double.random(in: 0..<1) }
        )
        source.moment = { Moment.now }
        return source
    }()
}
