import FoundationEssentials
import Glibc
import SecurityPolicy

/// What policies have accepted lately, for TLS sessions that are resumed.
///
/// A resumed session shows no certificates: the policy is asked about those of its first handshake, again for each
/// connection, and checks the same signatures. An acceptance is remembered for that, only for the very same question, and
/// only where the policy would say the same at any time until it is forgotten (`SecurityPolicy.isSteady`). Refusals are
/// never remembered, and a handshake that shows certificates is always evaluated. Confined to the engine's thread.
final class VerdictMemory {
    /// The whole question: which policy, whom it was asked for, and every byte that was shown.
    struct Subject: Hashable {
        /// Of the policy, the client identity and the hook together.
        let policyID: String
        let host: String
        /// Leaf first; certificates are equal when their DER is.
        let chain: [Certificate]
    }

    /// A moment by both clocks, so that a clock that is set is noticed.
    struct Moment {
        /// The time that certificates are compared with.
        let date: Date
        /// Nanoseconds of the monotonic clock.
        let monotonic: UInt64

        static var now: Moment { Moment(date: .now, monotonic: MonotonicClock.nanoseconds) }
    }

    private struct Entry {
        let decision: TrustDecision
        let moment: Moment
        var lastUse: UInt64
    }

    /// How long an acceptance is good for, in seconds.
    static let lifetime: Double = 300
    /// How far the two clocks may drift apart meanwhile; more means that one was set, or that the machine slept.
    private static let drift: Double = 1
    /// OpenSSL compares whole seconds.
    private static let margin: Double = 2

    private let capacity: Int
    private var entries: [Subject: Entry] = [:]
    private var uses: UInt64 = 0
    /// How often an evaluation was spared.
    private(set) var recalls = 0

    /// Keeps so many acceptances at most; the one that was not used for longest makes room.
    ///
    /// Each holds some certificates, which connections of the same server share.
    init(capacity: Int = 256) {
        self.capacity = max(1, capacity)
    }

    var count: Int { entries.count }

    /// Keeps an acceptance, unless it may become another one while it is kept; the moment is when its evaluation began.
    func remember(
        _ decision: TrustDecision,
        of policy: SecurityPolicy,
        about trust: ServerTrust,
        _ subject: Subject,
        since moment: Moment
    ) {
        let span = moment.date - Self.margin...moment.date + (Self.lifetime + Self.margin)
        guard policy.isSteady(decision, about: trust, during: span) else {
            entries[subject] = nil
            return
        }
        if entries.count >= capacity, entries[subject] == nil,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            entries[oldest.key] = nil
        }
        uses += 1
        entries[subject] = Entry(decision: decision, moment: moment, lastUse: uses)
    }

    /// The acceptance of this very question; nil when it must be evaluated.
    func decision(for subject: Subject, at moment: Moment) -> TrustDecision? {
        guard let entry = entries[subject] else { return nil }
        guard Self.isFresh(entry.moment, at: moment) else {
            entries[subject] = nil
            return nil
        }
        uses += 1
        recalls += 1
        entries[subject]?.lastUse = uses
        return entry.decision
    }

    private static func isFresh(_ then: Moment, at now: Moment) -> Bool {
        guard now.monotonic >= then.monotonic else { return false }
        let passed = Double(now.monotonic - then.monotonic) / 1e9
        let passedByDate = now.date.timeIntervalSince(then.date)
        return passedByDate >= 0 && passedByDate < lifetime && passed < lifetime
            && abs(passed - passedByDate) <= drift
    }
}
