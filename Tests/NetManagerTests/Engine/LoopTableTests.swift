import Testing

@testable import NetManager

@Suite struct LoopTableTests {
    private func pool(_ host: String, port: Int = 443, _ connectionID: String = "") -> LoopTable.Pool {
        LoopTable.Pool(host: host, port: port, connectionID: connectionID)
    }

    @Test func `each new pool gets the next loop and keeps it`() {
        var table = LoopTable(count: 3)
        let pools = [
            pool("a.test"), pool("b.test"), pool("a.test", port: 8443), pool("a.test", "strict"),
        ]
        #expect(pools.map { table.place(of: $0) } == [0, 1, 2, 0])
        #expect(pools.reversed().map { table.place(of: $0) } == [0, 2, 1, 0])
    }

    @Test func `pools beyond those that are remembered are spread, and keep their loop too`() {
        var table = LoopTable(count: 4)
        for number in 0..<LoopTable.most { _ = table.place(of: pool("\(number).test")) }
        let later = (0..<4000).map { pool("late-\($0).test") }
        let places = later.map { table.place(of: $0) }
        #expect(later.map { table.place(of: $0) } == places)
        for loop in 0..<4 {
            // A thousand each, by a hash; a quarter less would be eighteen standard deviations off.
            #expect(places.count { $0 == loop } > 500)
        }
    }

    @Test func `a name that no host can have is not remembered`() {
        var table = LoopTable(count: 2)
        let endless = pool(String(repeating: "a", count: 1 << 20))
        let place = table.place(of: endless)
        #expect((0..<2).contains(place))
        #expect(table.place(of: endless) == place)
        // The turn is still the first loop's.
        #expect(table.place(of: pool("a.test")) == 0)
    }

    @Test(arguments: [(1, 1), (0, 1), (-5, 1), (4, 4), (Int.max, 256)])
    func `there is at least one loop, and no more than are of use`(asked: Int, made: Int) {
        var configuration = CurlTransport.Configuration()
        configuration.loops = asked
        #expect(configuration.usableLoops == made)
    }

    @Test(arguments: [1, 2, 7, 8, 9, 100])
    func `loops never have more connections together than are allowed`(limit: Int) {
        var configuration = CurlTransport.Configuration()
        configuration.loops = 8
        configuration.maximumConnections = limit
        configuration.maximumConnectionsPerHost = 3
        let count = configuration.usableLoops
        #expect(count == min(8, limit))
        let shares = (0..<count).map { configuration.share(ofLoop: $0, of: count) }
        #expect(shares.reduce(0) { $0 + $1.maximumConnections } == limit)
        #expect(shares.allSatisfy { $0.maximumConnections > 0 })
        // All connections to a host are on one loop.
        #expect(shares.allSatisfy { $0.maximumConnectionsPerHost == 3 })
    }

    @Test func `without a limit no loop has one`() {
        var configuration = CurlTransport.Configuration()
        configuration.loops = 3
        let share = configuration.share(ofLoop: 2, of: 3)
        #expect(share.maximumConnections == 0)
        #expect(share.maximumIdleConnections == 0)
        configuration.maximumIdleConnections = 2
        #expect(configuration.share(ofLoop: 2, of: 3).maximumIdleConnections == 1)
    }
}
