/// Which stage a transfer is in, and when that stage must have ended: decisions without a clock of their own.
///
/// Times are nanoseconds of the monotonic clock.
struct PhaseClock {
    /// The limits that can pass at all: those that are shorter than what is left of the whole call.
    private let limits: Limits
    private(set) var phase = RequestError.Phase.queue
    /// When the phase began, or when it last showed a sign of life.
    private var mark: UInt64
    /// Whether nobody waits: the reader of the body is slow, or the source of the body to send.
    private var isHeld = false
    /// Until when the response's head must be there, for a stream, whose whole call has no end.
    private var headDeadline: UInt64?
    /// When the pause under way began; nil outside of one.
    private var pausedAt: UInt64?

    /// Limits in nanoseconds: a third of what they take as durations that may be missing.
    struct Limits {
        fileprivate static let none = UInt64.max

        fileprivate private(set) var queue, connect, tls, firstByte, idle: UInt64

        init(_ limits: Timeouts) {
            func nanoseconds(_ limit: Duration?) -> UInt64 {
                limit.map { UInt64(clamping: $0.nanoseconds) } ?? Self.none
            }
            queue = nanoseconds(limits.queue)
            connect = nanoseconds(limits.connect)
            tls = nanoseconds(limits.tls)
            firstByte = nanoseconds(limits.firstByte)
            idle = nanoseconds(limits.idle)
        }

        /// Those that can pass before the whole call is over, so that calls that have no other need no clock.
        func shorter(than whole: UInt64?) -> Limits {
            guard let whole else { return self }
            func kept(_ limit: UInt64) -> UInt64 { limit < whole ? limit : Self.none }
            var limits = self
            limits.queue = kept(queue)
            limits.connect = kept(connect)
            limits.tls = kept(tls)
            limits.firstByte = kept(firstByte)
            limits.idle = kept(idle)
            return limits
        }

        /// The shortest one; nil when there is none.
        fileprivate var shortest: UInt64? {
            let shortest = min(queue, connect, tls, firstByte, idle)
            return shortest == Self.none ? nil : shortest
        }
    }

    init(limits: Limits, headDeadline: UInt64?, now: @autoclosure () -> UInt64) {
        self.limits = limits
        self.headDeadline = headDeadline
        isNeeded = headDeadline != nil || self.limits.shortest != nil
        mark = isNeeded ? now() : 0
    }

    /// Whether any limit can ever pass; the time is not asked for where none can.
    let isNeeded: Bool

    /// A stage begins.
    mutating func enter(_ phase: RequestError.Phase, now: @autoclosure () -> UInt64) {
        // Resolving and connecting share one limit.
        if isNeeded, self.phase != .resolve || phase != .connect { mark = now() }
        self.phase = phase
        isHeld = false
    }

    /// Something moved in this stage.
    mutating func beat(now: UInt64) {
        mark = now
        isHeld = false
    }

    /// Waiting is somebody else's doing from now on.
    mutating func hold() {
        isHeld = true
    }

    /// The caller pauses the call: no limit counts any more.
    mutating func pause(now: UInt64) {
        if pausedAt == nil { pausedAt = now }
    }

    /// The pause is over, and the limits go on where they stopped.
    mutating func goOn(now: UInt64) {
        guard let start = pausedAt else { return }
        pausedAt = nil
        // What moved meanwhile is not set back.
        mark = min(now, mark &+ (now &- start))
        headDeadline = headDeadline.map { $0 &+ (now &- start) }
    }

    /// When something is over next; nil for never.
    var deadline: UInt64? {
        guard pausedAt == nil else { return nil }
        let ownLimit =
            switch phase {
            case .queue: limits.queue
            case .resolve, .connect: limits.connect
            case .tls: limits.tls
            case .send, .firstByte: limits.firstByte
            case .idle: limits.idle
            case .total: Limits.none
            }
        let own = isHeld || ownLimit == Limits.none ? nil : mark &+ ownLimit
        let head = phase == .idle ? nil : headDeadline
        switch (own, head) {
        case (let own?, let head?): return min(own, head)
        default: return own ?? head
        }
    }

    /// Limits are kept to the millisecond, and one of nothing must not be looked for again at the same moment, for ever.
    private static let shortestWait: UInt64 = 1_000_000

    /// When to look again: at this stage's end, which may be past where the engine had other work, or after the shortest
    /// limit, which a later stage may have.
    func nextLook(now: UInt64) -> UInt64? {
        let shortest = limits.shortest.map { now &+ max($0, Self.shortestWait) }
        // It counts again after a pause.
        let head = headDeadline.flatMap { phase == .idle || $0 <= now ? nil : $0 }
        return [deadline, head, shortest].compactMap { $0 }.min()
    }

    /// What is over; nil when nothing is.
    func expired(now: UInt64) -> RequestError.Phase? {
        guard let deadline, deadline <= now else { return nil }
        return deadline == headDeadline
            ? .total : phase == .resolve ? .connect : phase == .send ? .firstByte : phase
    }
}

extension Duration {
    /// Nanoseconds, at most what 64 bits hold.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carries) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || carries ? (seconds < 0 ? .min : .max) : sum
    }
}
