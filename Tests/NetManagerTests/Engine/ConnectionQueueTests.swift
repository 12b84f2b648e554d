import Testing

@testable import NetManager

@Suite struct ConnectionQueueTests {
    private let here = ConnectionQueue.Host(name: "here", port: 80, proxy: "")
    private let there = ConnectionQueue.Host(name: "there", port: 80, proxy: "")

    private func id(_ number: UInt64) -> TransferID { TransferID(number: number) }

    private func enter(
        _ queue: inout ConnectionQueue,
        _ number: UInt64,
        _ priority: RequestPriority = .normal,
        at host: ConnectionQueue.Host? = nil
    ) -> Bool {
        queue.mayEnter(id(number), host: host ?? here, priority: priority)
    }

    @Test func `without limits nobody waits`() {
        var queue = ConnectionQueue(mostPerHost: 0, most: 0)
        #expect((1...1000).allSatisfy { enter(&queue, $0) })
        #expect(queue.leave(id(1)).isEmpty)
    }

    @Test func `a limit per host is kept for each host`() {
        var queue = ConnectionQueue(mostPerHost: 1, most: 0)
        #expect(enter(&queue, 1))
        #expect(!enter(&queue, 2))
        #expect(enter(&queue, 3, at: there))
        #expect(queue.leave(id(3)).isEmpty)
        #expect(queue.leave(id(1)) == [id(2)])
        #expect(queue.leave(id(2)).isEmpty)
        #expect(enter(&queue, 4))
    }

    @Test func `a limit of all is kept over all hosts, and the most urgent of any is next`() {
        var queue = ConnectionQueue(mostPerHost: 1, most: 2)
        #expect(enter(&queue, 1))
        #expect(enter(&queue, 2, at: there))
        #expect(!enter(&queue, 3))
        #expect(!enter(&queue, 4, .high, at: there))
        #expect(!enter(&queue, 5, .low, at: .init(name: "elsewhere", port: 80, proxy: "")))
        // The place at `there` is still taken, so its request has to wait although it is more urgent.
        #expect(queue.leave(id(1)) == [id(3)])
        #expect(queue.leave(id(2)) == [id(4)])
        #expect(queue.leave(id(4)) == [id(5)])
    }

    @Test func `equally urgent ones go in the order in which they came`() {
        var queue = ConnectionQueue(mostPerHost: 1, most: 0)
        #expect(enter(&queue, 0))
        for number: UInt64 in 1...20 { #expect(!enter(&queue, number)) }
        var order: [TransferID] = []
        var last = id(0)
        while let next = queue.leave(last).first {
            order.append(next)
            last = next
        }
        #expect(order == (1...20).map { id($0) })
    }

    @Test func `a priority can change while its request waits`() {
        var queue = ConnectionQueue(mostPerHost: 1, most: 0)
        #expect(enter(&queue, 0))
        for number: UInt64 in 1...3 { #expect(!enter(&queue, number)) }
        queue.prioritize(id(3), .high)
        queue.prioritize(id(1), .low)
        queue.prioritize(id(1), .low)
        #expect(queue.leave(id(0)) == [id(3)])
        // One that is inside does not come back.
        queue.prioritize(id(3), .low)
        #expect(queue.leave(id(3)) == [id(2)])
        #expect(queue.leave(id(2)) == [id(1)])
        #expect(queue.leave(id(1)).isEmpty)
    }

    @Test func `one that leaves while it waits is not named any more`() {
        var queue = ConnectionQueue(mostPerHost: 1, most: 0)
        #expect(enter(&queue, 0))
        #expect(!enter(&queue, 1))
        #expect(!enter(&queue, 2))
        #expect(queue.leave(id(1)).isEmpty)
        #expect(queue.leave(id(1)).isEmpty)
        #expect(queue.leave(id(0)) == [id(2)])
    }

    @Test func `who has left while another waits is not kept`() {
        var queue = ConnectionQueue(mostPerHost: 1, most: 0)
        let began = [enter(&queue, 1), enter(&queue, 2)]
        #expect(began == [true, false])
        for number: UInt64 in 3...10_000 {
            let isInside = enter(&queue, number)
            let next = queue.leave(id(number))
            #expect(!isInside && next.isEmpty)
        }
        #expect(queue.entries(at: here) < 100)
        // Nor are the priorities that one had.
        for number in 0..<10_000 { queue.prioritize(id(2), number.isMultiple(of: 2) ? .high : .low) }
        #expect(queue.entries(at: here) < 100)
        let isInside = enter(&queue, 20_000)
        #expect(!isInside)
        #expect(queue.leave(id(1)) == [id(20_000)])
        #expect(queue.leave(id(20_000)) == [id(2)])
        #expect(queue.leave(id(2)).isEmpty)
        #expect(queue.entries(at: here) == 0)
    }
}
