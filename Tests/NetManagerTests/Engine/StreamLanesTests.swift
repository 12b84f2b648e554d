import Testing

@testable import NetManager

/// Where requests go while readers sleep.
struct StreamLanesTests {
    private let route = Route(
        host: "a.example",
        port: 443,
        policyID: "p",
        proxy: ResolvedProxy(),
        connection: ConnectionOptions()
    )

    @Test func `a request goes to the first lane on which nobody has slept`() {
        let lanes = StreamLanes(isUsed: true)
        #expect(lanes.enter(route).lane == 0)
        lanes.fallsAsleep(route)
        #expect(lanes.enter(route).lane == 1)
        lanes.fallsAsleep(route.inLane(1))
        #expect(lanes.enter(route).lane == 2)
        lanes.ends(route)
        #expect(lanes.enter(route).lane == 0)
        lanes.ends(route.inLane(1))
        #expect(lanes.enter(route).lane == 0)
    }

    @Test func `lanes are limited, and then the one with the fewest sleepers is taken`() {
        let lanes = StreamLanes(isUsed: true)
        for lane in 0..<StreamLanes.most { lanes.fallsAsleep(route.inLane(lane)) }
        #expect(lanes.enter(route).lane == 0)
        lanes.fallsAsleep(route)
        #expect(lanes.enter(route).lane == 1)
    }

    @Test func `another route is not concerned, and without lanes there is one`() {
        let lanes = StreamLanes(isUsed: true)
        lanes.fallsAsleep(route)
        let other = Route(
            host: "b.example",
            port: 443,
            policyID: "p",
            proxy: ResolvedProxy(),
            connection: ConnectionOptions()
        )
        #expect(lanes.enter(other).lane == 0)
        #expect(route != route.inLane(1))
        let unused = StreamLanes(isUsed: false)
        unused.fallsAsleep(route)
        #expect(unused.enter(route).lane == 0)
        unused.ends(route)
    }
}
