import Testing

@testable import NetManager

/// Which requests share a connection, and one gate.
@Suite struct RouteTests {
    private func route(_ port: Int = 443, policyID: String = "a") -> Route {
        .init(host: "h", port: port, policyID: policyID, proxy: ResolvedProxy(), connection: .init())
    }

    @Test func `equal routes have one gate, others one of their own`() {
        var routes = RouteTable()
        let first = routes.known(route())
        #expect(routes.known(route()) === first)
        for other in [route(444), route(policyID: "b"), first.inLane(1)] {
            #expect(routes.known(other) !== first && routes.known(other) == other)
        }
        #expect(routes.count == 4)
        #expect(first.inLane(0) === first)
    }

    @Test func `routes that nobody is on are given up when there are many`() {
        var routes = RouteTable()
        let used = routes.known(route(0))
        let waiting = used.gate.mayEnter(TransferID(number: 1))
        #expect(waiting)
        for port in 1...10_000 { _ = routes.known(route(port)) }
        #expect(routes.count <= 1024)
        #expect(routes.known(route(0)) === used)
    }

    @Test func `routes that are used are kept, however many they are`() {
        var routes = RouteTable()
        let used = (0..<3000).map { port in
            let known = routes.known(route(port))
            _ = known.gate.mayEnter(TransferID(number: UInt64(port)))
            return known
        }
        #expect((0..<3000).allSatisfy { routes.known(route($0)) === used[$0] })
    }
}
