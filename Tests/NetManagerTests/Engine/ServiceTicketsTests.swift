import Testing

@testable import NetManager

/// Who is asked for tickets, and when.
@Suite struct ServiceTicketsTests {
    private let asked = Shared<[String]>([])
    private let tickets: ServiceTickets

    init() {
        let asked = asked
        tickets = ServiceTickets { host in asked.withLock { $0.append(host) } }
    }

    private func id(_ number: Int) -> TransferID { TransferID(number: UInt64(number)) }

    @Test func `transfers to one host share the question`() {
        for number in 0..<100 { tickets.get("a", for: id(number)) }
        #expect(asked.value == ["a"])
        #expect(tickets.settle("a") == (0..<100).map(id))
        #expect(tickets.settle("a").isEmpty)
        tickets.get("a", for: id(100))
        #expect(asked.value == ["a", "a"])
    }

    @Test func `no more than eight hosts are asked for at a time, and the others in their order`() {
        for number in 0..<20 { tickets.get("h\(number)", for: id(number)) }
        #expect(asked.value == (0..<8).map { "h\($0)" })
        #expect(tickets.settle("h5") == [id(5)])
        #expect(asked.value == (0..<9).map { "h\($0)" })
        for number in 0..<20 where number != 5 { #expect(tickets.settle("h\(number)") == [id(number)]) }
        #expect(asked.value == (0..<20).map { "h\($0)" })
    }

    @Test func `a question that nobody waits for any more takes its place until it is answered`() {
        for number in 0..<9 { tickets.get("h\(number)", for: id(number)) }
        for number in 0..<8 { tickets.leave(id(number)) }
        #expect(asked.value.count == 8)
        // It is under way: who comes meanwhile waits for the same answer.
        tickets.get("h0", for: id(9))
        #expect(asked.value.count == 8)
        #expect(tickets.settle("h0") == [id(9)])
        #expect(asked.value.last == "h8")
        #expect(tickets.settle("h1").isEmpty)
    }

    @Test func `a host that nobody waits for any more is not asked for`() {
        for number in 0..<10 { tickets.get("h\(number)", for: id(number)) }
        tickets.get("h8", for: id(10))
        for number in [8, 9, 10] { tickets.leave(id(number)) }
        for number in 0..<8 { #expect(tickets.settle("h\(number)") == [id(number)]) }
        #expect(asked.value.count == 8)
        tickets.get("h8", for: id(11))
        #expect(tickets.settle("h8") == [id(11)])
    }

    @Test func `an answer that nobody has asked for changes nothing`() {
        for number in 0..<9 { tickets.get("h\(number)", for: id(number)) }
        #expect(tickets.settle("h8").isEmpty)
        #expect(tickets.settle("other").isEmpty)
        #expect(asked.value.count == 8)
        #expect(tickets.settle("h0") == [id(0)])
        #expect(tickets.settle("h8") == [id(8)])
    }
}
