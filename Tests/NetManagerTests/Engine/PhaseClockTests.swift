import Testing

@testable import NetManager

@Suite struct PhaseClockTests {
    private let second: UInt64 = 1_000_000_000

    private func clock(_ change: (inout Timeouts) -> Void, headDeadline: UInt64? = nil) -> PhaseClock {
        var limits = Timeouts()
        limits.idle = nil
        change(&limits)
        return PhaseClock(limits: PhaseClock.Limits(limits), headDeadline: headDeadline, now: 0)
    }

    @Test func `without limits nothing is ever over`() {
        let clock = clock { _ in }
        #expect(!clock.isNeeded)
        #expect(clock.deadline == nil)
        #expect(clock.expired(now: .max) == nil)
    }

    @Test func `what is over already is looked at at once`() {
        var clock = clock({ $0.idle = .seconds(60) }, headDeadline: second)
        #expect(clock.nextLook(now: 0) == second)
        #expect(clock.nextLook(now: 3 * second) == second)
        // A pause prolongs the time, and nothing can be over during one.
        clock.pause(now: 0)
        #expect(clock.nextLook(now: 3 * second) == 63 * second)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
    func `a later stage's limit of next to nothing is looked for a millisecond later`(limit: Duration) {
        let clock = clock { $0.idle = limit }
        #expect(clock.expired(now: second) == nil)
        #expect(clock.nextLook(now: second) == second + 1_000_000)
    }

    @Test func `each stage has its own limit`() {
        var clock = clock {
            $0.queue = .seconds(1)
            $0.connect = .seconds(2)
            $0.tls = .seconds(3)
            $0.firstByte = .seconds(4)
            $0.idle = .seconds(5)
        }
        #expect(clock.expired(now: second) == .queue)
        clock.enter(.resolve, now: second)
        #expect(clock.deadline == 3 * second)
        clock.enter(.connect, now: 2 * second)
        #expect(clock.deadline == 3 * second)
        #expect(clock.expired(now: 3 * second) == .connect)
        clock.enter(.tls, now: 3 * second)
        #expect(clock.expired(now: 6 * second) == .tls)
        clock.enter(.firstByte, now: 6 * second)
        #expect(clock.expired(now: 10 * second) == .firstByte)
        clock.enter(.idle, now: 10 * second)
        #expect(clock.expired(now: 15 * second) == .idle)
    }

    @Test func `a sign of life moves the limit on`() {
        var clock = clock { $0.idle = .seconds(5) }
        clock.enter(.idle, now: 0)
        clock.beat(now: 4 * second)
        #expect(clock.expired(now: 8 * second) == nil)
        #expect(clock.expired(now: 9 * second) == .idle)
    }

    @Test func `a reader that does not read is not counted`() {
        var clock = clock { $0.idle = .seconds(5) }
        clock.enter(.idle, now: 0)
        clock.hold()
        #expect(clock.expired(now: 100 * second) == nil)
        clock.beat(now: 100 * second)
        #expect(clock.expired(now: 105 * second) == .idle)
    }

    @Test func `a stream's head has a time, its body has not`() {
        var clock = clock({ _ in }, headDeadline: 10 * second)
        clock.enter(.firstByte, now: 9 * second)
        #expect(clock.expired(now: 10 * second) == .total)
        clock.enter(.idle, now: 9 * second)
        #expect(clock.expired(now: .max) == nil)
    }

    @Test func `a pause stops every limit, which then goes on where it was`() {
        var clock = clock({ $0.firstByte = .seconds(4) }, headDeadline: 20 * second)
        clock.enter(.firstByte, now: 0)
        clock.pause(now: 3 * second)
        clock.pause(now: 5 * second)
        #expect(clock.deadline == nil)
        #expect(clock.expired(now: .max) == nil)
        clock.goOn(now: 103 * second)
        clock.goOn(now: 104 * second)
        #expect(clock.deadline == 104 * second)
        #expect(clock.expired(now: 104 * second - 1) == nil)
        #expect(clock.expired(now: 104 * second) == .firstByte)
        clock.enter(.firstByte, now: 118 * second)
        #expect(clock.expired(now: 120 * second) == .total)
    }
}

@Suite struct DeadlineQueueTests {
    @Test func `entries come out by their time`() {
        var queue = DeadlineQueue()
        for time in [5, 3, 9, 1, 7, 1, 8] as [UInt64] {
            queue.insert(.init(time: time, id: TransferID(number: time)))
        }
        #expect(queue.earliest == 1)
        var times: [UInt64] = []
        while let entry = queue.popDue(now: 7) { times.append(entry.time) }
        #expect(times == [1, 1, 3, 5, 7])
        #expect(queue.earliest == 8)
    }
}
