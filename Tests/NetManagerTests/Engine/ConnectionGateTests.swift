import Testing

@testable import NetManager

/// Who waits for whose connection.
@Suite struct ConnectionGateTests {
    private func ids(_ count: UInt64) -> [TransferID] { (1...count).map { TransferID(number: $0) } }

    @Test func `requests wait for the first one's connection and share it`() {
        var gate = ConnectionGate()
        let id = ids(4)
        let entered = id.prefix(3).map { gate.mayEnter($0) }
        #expect(entered == [true, false, false])
        let released = gate.connected(id[0], multiplexes: true)
        #expect(released == [id[1], id[2]])
        let more = gate.ended(id[0], wasCancelled: false)
        #expect(more == [])
        // The next ones wait again for the first of them: the connection may be closed by then.
        let next = id.prefix(2).map { gate.mayEnter($0) }
        #expect(next == [true, false])
    }

    @Test func `nobody waits where each request has a connection of its own`() {
        var gate = ConnectionGate()
        let id = ids(4)
        let entered = id.prefix(2).map { gate.mayEnter($0) }
        #expect(entered == [true, false])
        let released = gate.connected(id[0], multiplexes: false)
        #expect(released == [id[1]])
        let next = id.suffix(2).map { gate.mayEnter($0) }
        #expect(next == [true, true])
    }

    @Test func `a first one that is cancelled hands over, and one that fails lets all go`() {
        var gate = ConnectionGate()
        let id = ids(5)
        for id in id { _ = gate.mayEnter(id) }
        let left = gate.ended(id[1], wasCancelled: true)
        #expect(left == [])
        let heir = gate.ended(id[0], wasCancelled: true)
        #expect(heir == [id[2]])
        let released = gate.ended(id[2], wasCancelled: false)
        #expect(released == [id[3], id[4]])
        let next = gate.mayEnter(id[0])
        #expect(next)
    }
}
