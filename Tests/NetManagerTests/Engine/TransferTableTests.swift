import Testing

@testable import NetManager

@Suite struct TransferTableTests {
    private final class Member: Numbered {
        let id: TransferID

        init(_ number: UInt64) {
            id = TransferID(number: number)
        }
    }

    @Test func `what is added is found until it is taken out`() {
        var table = TransferTable<Member>()
        let members = (0..<1000).map { Member($0 * 7) }
        for member in members { table.insert(member) }
        #expect(table.count == 1000 && Set(table.all.map(\.id)).count == 1000)
        for member in members { #expect(table[member.id] === member) }
        #expect(table[TransferID(number: 1)] == nil)
        for (index, member) in members.enumerated() {
            #expect(table.remove(member.id) === member)
            #expect(table.remove(member.id) == nil && table[member.id] == nil)
            #expect(table.count == members.count - index - 1)
        }
        #expect(table.isEmpty && table.all.isEmpty)
    }

    @Test func `it holds what a dictionary holds, whatever the numbers and the order`() {
        var table = TransferTable<Member>()
        var expected: [TransferID: Member] = [:]
        // A generator of its own, so that a failure comes again.
        var state: UInt64 = 42
        func next(below limit: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % limit
        }
        for round in 0..<20_000 {
            // Far more are there in the middle than in the beginning and in the end.
            let id = TransferID(number: next(below: 300) << (next(below: 2) * 40))
            if expected[id] == nil, next(below: 20_000) > round {
                let member = Member(id.number)
                table.insert(member)
                expected[id] = member
            } else {
                #expect(table.remove(id) === expected.removeValue(forKey: id))
            }
            let other = TransferID(number: next(below: 300))
            #expect(table[other] === expected[other])
        }
        #expect(table.count == expected.count)
        #expect(Set(table.all.map(\.id)) == Set(expected.keys))
    }
}
