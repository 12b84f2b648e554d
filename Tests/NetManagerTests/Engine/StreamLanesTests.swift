import Testing

@testable import NetManager

/// Who shares a connection with whom while responses are read piece by piece.
struct StreamLanesTests {
    @Test func `requests without readers share the first lane`() {
        var lanes = StreamLanes()
        for _ in 0..<3 { #expect(lanes.enter(reads: false, most: 4) == 0) }
        for _ in 0..<3 { lanes.leave(0, reads: false) }
        #expect(lanes.isEmpty)
    }

    @Test func `each reader has a lane to itself, the first one that is free`() {
        var lanes = StreamLanes()
        #expect(lanes.enter(reads: true, most: 4) == 0)
        #expect(lanes.enter(reads: true, most: 4) == 1)
        #expect(lanes.enter(reads: true, most: 4) == 2)
        lanes.leave(1, reads: true)
        #expect(lanes.enter(reads: true, most: 4) == 1)
        for lane in 0..<3 { lanes.leave(lane, reads: true) }
        #expect(lanes.isEmpty)
    }

    @Test func `a reader does not join requests that are under way, nor they it`() {
        var lanes = StreamLanes()
        #expect(lanes.enter(reads: false, most: 4) == 0)
        #expect(lanes.enter(reads: true, most: 4) == 1)
        #expect(lanes.enter(reads: false, most: 4) == 0)
        lanes.leave(0, reads: false)
        lanes.leave(0, reads: false)
        #expect(lanes.enter(reads: true, most: 4) == 0)
        #expect(lanes.enter(reads: false, most: 4) == 2)
        #expect(lanes.enter(reads: false, most: 4) == 2)
    }

    @Test func `a request that is suspended counts as a reader from then on`() {
        var lanes = StreamLanes()
        #expect(lanes.enter(reads: false, most: 4) == 0)
        lanes.readsOn(0)
        #expect(lanes.enter(reads: false, most: 4) == 1)
        lanes.leave(0, reads: true)
        lanes.leave(1, reads: false)
        #expect(lanes.isEmpty)
        #expect(lanes.enter(reads: false, most: 4) == 0)
    }

    @Test func `lanes of readers are limited, and further ones share the emptiest, never that of others`() {
        var lanes = StreamLanes()
        #expect(lanes.enter(reads: false, most: 2) == 0)
        #expect(lanes.enter(reads: true, most: 2) == 1)
        #expect(lanes.enter(reads: true, most: 2) == 2)
        #expect(lanes.enter(reads: true, most: 2) == 1)
        #expect(lanes.enter(reads: true, most: 2) == 2)
        #expect(lanes.enter(reads: false, most: 2) == 0)
        lanes.leave(2, reads: true)
        #expect(lanes.enter(reads: true, most: 2) == 2)
    }

    @Test func `without lanes all share the first`() {
        var lanes = StreamLanes()
        for reads in [true, false, true] { #expect(lanes.enter(reads: reads, most: 0) == 0) }
        for reads in [true, false, true] { lanes.leave(0, reads: reads) }
        #expect(lanes.isEmpty)
    }

    private func route(_ host: String = "a.example") -> Route {
        Route(
            host: host,
            port: 443,
            policyID: "p",
            proxy: ResolvedProxy(),
            connection: ConnectionOptions()
        )
    }

    @Test func `a lane's route is another one, and its readers count in the first lane's`() {
        let first = route()
        let reader = first.enterLane(reads: true, most: 4)
        #expect(reader === first)
        let other = first.enterLane(reads: true, most: 4)
        #expect(other != first && other.lane == 1)
        #expect(first.inLane(1) == other)
        #expect(!first.isIdle)
        reader.leaveLane(reads: true)
        other.leaveLane(reads: true)
        #expect(first.isIdle)
    }

    @Test func `where each request has a connection to itself there are no lanes`() {
        let first = route()
        _ = first.gate.connected(TransferID(number: 1), multiplexes: false)
        for _ in 0..<3 { #expect(first.enterLane(reads: true, most: 4) === first) }
    }

    @Test func `a table that is full forgets routes that nobody is on, and tells them so`() {
        var table = RouteTable()
        let busy = table.known(route("busy.example"))
        _ = busy.enterLane(reads: true, most: 4)
        let idle = table.known(route("idle.example"))
        for number in 0..<1024 { _ = table.known(route("\(number).example")) }
        #expect(busy.isKnown && table.known(route("busy.example")) === busy)
        #expect(!idle.isKnown && table.known(route("idle.example")) !== idle)
    }
}
