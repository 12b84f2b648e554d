import Testing

@testable import Reachability

@Suite struct NetlinkReaderTests {
    private func batch(_ bytes: [UInt8]) -> NetlinkBatch {
        bytes.withUnsafeBytes { NetlinkReader.batch($0) }
    }

    @Test func `links and routes are read with their names, flags and interfaces`() {
        var data = NetlinkBytes()
        data.addLink(2, "eth0", flags: 0x11043, sequence: 7)
        data.addRoute(interface: 2, sequence: 7)
        data.addDone(sequence: 7)
        let batch = batch(data.bytes)
        #expect(!batch.isMalformed)
        #expect(batch.entries.map(\.sequence) == [7, 7, 7])
        #expect(
            batch.entries.map(\.message) == [
                .link(.init(index: 2, name: "eth0", flags: 0x11043)),
                .route(.init(family: .ipv4, prefix: 0, table: 254, type: 1, interfaces: [2])), .done,
            ]
        )
    }

    @Test func `a route of several next hops leads over all of their interfaces`() {
        let hop: (Int32) -> [UInt8] = { NetlinkBytes.integer(UInt16(8)) + [0, 0] + NetlinkBytes.integer($0) }
        var data = NetlinkBytes()
        let head: [UInt8] = [10, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0]
        data.add(24, head + NetlinkBytes.attribute(9, hop(3) + hop(4)))
        guard case .route(let route) = batch(data.bytes).entries.first?.message else {
            Issue.record("no route")
            return
        }
        #expect(route.interfaces == [3, 4])
        #expect(route.family == .ipv6)
    }

    @Test func `a table beyond 255 stands in an attribute`() {
        var data = NetlinkBytes()
        let head: [UInt8] = [2, 0, 0, 0, 252, 3, 0, 1, 0, 0, 0, 0]
        data.add(24, head + NetlinkBytes.attribute(15, NetlinkBytes.integer(UInt32(1000))))
        guard case .route(let route) = batch(data.bytes).entries.first?.message else {
            Issue.record("no route")
            return
        }
        #expect(route.table == 1000)
    }

    @Test func `an error, an interrupted dump and unknown kinds are told apart`() {
        var data = NetlinkBytes()
        data.add(2, sequence: 3, NetlinkBytes.integer(Int32(-1)) + [UInt8](repeating: 0, count: 16))
        data.add(99, [1, 2, 3])
        #expect(batch(data.bytes).entries.map(\.message) == [.failed(errno: 1), .other(type: 99)])
        var interrupted = NetlinkBytes()
        interrupted.add(3, flags: 0x12, sequence: 1, NetlinkBytes.integer(Int32(0)))
        #expect(batch(interrupted.bytes).isInterrupted)
    }

    @Test func `every shortened datagram is read without a trap, and never as a whole one`() {
        var data = NetlinkBytes()
        data.addLink(2, "eth0", flags: 0x11043)
        data.addRoute(interface: 2)
        let whole = batch(data.bytes)
        for count in 0..<data.bytes.count {
            let short = batch(Array(data.bytes.prefix(count)))
            #expect(short.entries.count < whole.entries.count)
            #expect(short.isMalformed || short.entries.count * 1 <= 1)
        }
    }

    @Test func `random bytes in a datagram never trap`() {
        var data = NetlinkBytes()
        data.addLink(2, "eth0", flags: 0x11043)
        data.addRoute(interface: 2)
        let hop = NetlinkBytes.integer(UInt16(8)) + [0, 0] + NetlinkBytes.integer(Int32(3))
        data.add(24, [10, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0] + NetlinkBytes.attribute(9, hop + hop))
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50_000 {
            var bytes = data.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                    in: .min ... .max,
                    using: &random
                )
            }
            _ = batch(bytes)
        }
        for count in 0..<256 {
            _ = batch((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        }
    }
}
