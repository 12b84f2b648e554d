import Testing

@testable import Reachability

@Suite struct NetworkTableTests {
    private static let up: UInt32 = 0x41

    private func table(
        _ flags: UInt32,
        prefix: UInt8 = 0,
        table: UInt32 = 254,
        type: UInt8 = 1,
        _ family: NetlinkMessage.Route.Family = .ipv4
    ) -> NetworkTable {
        NetworkTable(
            links: [2: .init(index: 2, name: "eth0", flags: flags)],
            routes: [.init(family: family, prefix: prefix, table: table, type: type, interfaces: [2])]
        )
    }

    @Test func `a default route over an interface with a carrier is a way`() {
        let path = table(Self.up).path
        #expect(path == NetworkPath(status: .reachable, interfaces: ["eth0"], supportsIPv4: true))
        #expect("\(path)" == "reachable over eth0 (IPv4)")
        #expect(table(Self.up, .ipv6).path.supportsIPv6)
    }

    @Test func `no carrier, loopback, another table, a blackhole and a route to neighbors are none`() {
        #expect(table(0x1).path.status == .notReachable)
        #expect(table(0x40).path.status == .notReachable)
        #expect(table(Self.up | 0x8).path.status == .notReachable)
        #expect(table(Self.up, table: 255).path.status == .notReachable)
        #expect(table(Self.up, type: 6).path.status == .notReachable)
        #expect(table(Self.up, prefix: 24).path.status == .notReachable)
        #expect(NetworkTable().path.status == .notReachable)
    }

    // MARK: Dumps

    private func batch(_ build: (inout NetlinkBytes) -> Void) -> NetlinkBatch {
        var bytes = NetlinkBytes()
        build(&bytes)
        return bytes.bytes.withUnsafeBytes { NetlinkReader.batch($0) }
    }

    /// Answers the two questions of a dump that has begun.
    private func answer(_ dump: inout NetlinkDump, _ sequence: UInt32) -> NetlinkDump.Action? {
        let ask = dump.receive(
            batch {
                $0.addLink(2, "eth0", flags: Self.up, sequence: sequence)
                $0.addDone(sequence: sequence)
            }
        )
        #expect(ask == .ask(.init(type: 26, sequence: sequence + 1)))
        return dump.receive(
            batch {
                $0.addRoute(interface: 2, sequence: sequence + 1)
                $0.addDone(sequence: sequence + 1)
            }
        )
    }

    @Test func `interfaces are asked for, then routes, then the tables are complete`() {
        var dump = NetlinkDump()
        #expect(dump.begin() == .ask(.init(type: 18, sequence: 1)))
        guard case .publish(let table) = answer(&dump, 1) else {
            Issue.record("nothing was published")
            return
        }
        #expect(table.path.isReachable)
    }

    @Test func `news lead to a new dump, at once or after the one that runs`() {
        var dump = NetlinkDump()
        _ = dump.begin()
        #expect(dump.receive(batch { $0.addRoute(interface: 2) }) == nil)
        #expect(answer(&dump, 1) == .ask(.init(type: 18, sequence: 3)))
        _ = answer(&dump, 3)
        #expect(
            dump.receive(batch { $0.addRoute(interface: 2, message: 25) })
                == .ask(.init(type: 18, sequence: 5))
        )
        _ = answer(&dump, 5)
        #expect(dump.receive(batch { $0.addRoute(prefix: 24, interface: 2) }) == nil, "no matter of ways out")
        #expect(
            dump.receive(batch { $0.addLink(2, "eth0", flags: 0, type: 17) })
                == .ask(.init(type: 18, sequence: 7))
        )
    }

    @Test func `an interrupted dump, lost news and broken datagrams are asked for again`() {
        var dump = NetlinkDump()
        _ = dump.begin()
        let interrupted = dump.receive(batch { $0.add(3, flags: 0x10, sequence: 1, [0, 0, 0, 0]) })
        #expect(interrupted == .ask(.init(type: 26, sequence: 2)))
        #expect(dump.receive(batch { $0.addDone(sequence: 2) }) == .ask(.init(type: 18, sequence: 3)))
        #expect(dump.overflowed() == .ask(.init(type: 18, sequence: 4)))
        #expect(dump.receive(NetlinkBatch(isMalformed: true)) == .ask(.init(type: 18, sequence: 5)))
    }

    @Test func `answers to older questions count for nothing`() {
        var dump = NetlinkDump()
        _ = dump.begin()
        _ = dump.overflowed()
        #expect(dump.receive(batch { $0.addDone(sequence: 1) }) == nil)
    }

    @Test func `a refusal ends the dump`() {
        var dump = NetlinkDump()
        _ = dump.begin()
        let refused = dump.receive(batch { $0.add(2, sequence: 1, NetlinkBytes.integer(Int32(-1))) })
        #expect(refused == .fail(errno: 1))
    }
}
