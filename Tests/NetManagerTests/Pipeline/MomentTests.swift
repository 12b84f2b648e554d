import Testing

@testable import NetManager

@Suite struct MomentTests {
    @Test(arguments: [-86_400, -1, 0, 1, 60, 3_155_760_000] as [Int64])
    func `an instant comes back as it was`(seconds: Int64) {
        let instant = ContinuousClock.now.advanced(by: .seconds(seconds) + .nanoseconds(7))
        #expect(Moment(instant).instant == instant)
    }

    @Test func `the present is the same on both clocks`() {
        let before = ContinuousClock.now
        let moment = Moment.now
        let after = ContinuousClock.now
        // The two clocks were compared once, and between the two looks a busy machine may have done other things.
        #expect(moment.instant >= before - .seconds(10))
        #expect(moment.instant <= after + .seconds(10))
        #expect(Moment.now >= moment)
    }

    @Test func `times that are farther away than nanoseconds can say are the farthest that there are`() {
        let now = Moment.now
        let last = now.advanced(by: .seconds(Int64.max))
        let first = now.advanced(by: .seconds(-Int64.max)).advanced(by: .seconds(-Int64.max))
        #expect(first < now && now < last)
        #expect(last.advanced(by: .seconds(1)) == last)
        #expect(first.advanced(by: .seconds(-1)) == first)
        #expect(first.duration(to: last) == .nanoseconds(Int64.max))
        #expect(last.duration(to: first) == .nanoseconds(Int64.min))
        #expect(now.duration(to: now.advanced(by: .milliseconds(3))) == .milliseconds(3))
    }
}
