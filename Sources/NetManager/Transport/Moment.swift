import Glibc

/// A time of the continuous clock, in nanoseconds.
///
/// `ContinuousClock.Instant` has a size that the compiler does not know, and so has everything that holds one: it is then
/// copied by way of the run time, member by member. This one is a number, and is made an instant for those who ask.
package struct Moment: Sendable, Hashable, Comparable {
    private let nanoseconds: Int64

    private init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The same moment on both clocks, so that one can be told from the other exactly.
    private static let anchor = (instant: ContinuousClock.now, moment: Moment.now)

    /// The time of an instant; of one that is centuries away, the farthest that there is.
    package init(_ instant: ContinuousClock.Instant) {
        let anchor = Moment.anchor
        self = anchor.moment.advanced(by: anchor.instant.duration(to: instant))
    }

    /// The time as others have it.
    package var instant: ContinuousClock.Instant {
        let anchor = Moment.anchor
        return anchor.instant.advanced(by: anchor.moment.duration(to: self))
    }

    /// The present, by the clock that `ContinuousClock` reads on Linux.
    package static var now: Moment {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return Moment(nanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
    }

    /// A moment so much later.
    package func advanced(by duration: Duration) -> Moment { advanced(byNanoseconds: duration.nanoseconds) }

    /// A moment so much later.
    func advanced(byNanoseconds count: Int64) -> Moment {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
        return Moment(nanoseconds: overflow ? (count < 0 ? .min : .max) : sum)
    }

    /// How long it is until a later moment.
    package func duration(to later: Moment) -> Duration { .nanoseconds(nanoseconds(to: later)) }

    /// How many nanoseconds it is until a later moment.
    func nanoseconds(to later: Moment) -> Int64 {
        let (difference, overflow) = later.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return overflow ? (later < self ? .min : .max) : difference
    }

    /// Whether one moment comes before another.
    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }
}
