/// When to look at which transfer: a binary heap, the earliest time first.
///
/// A transfer whose deadline moves on is not looked for in the heap: its entry comes up at the old time and is then
/// put back, so that a sign of life costs nothing here.
struct DeadlineQueue {
    struct Entry {
        let time: UInt64
        let id: TransferID
    }

    private var heap: [Entry] = []

    var earliest: UInt64? { heap.first?.time }

    var count: Int { heap.count }

    /// Forgets the entries of transfers that have ended.
    mutating func keep(where isWanted: (TransferID) -> Bool) {
        // What is sorted is a heap.
        heap = heap.filter { isWanted($0.id) }.sorted { $0.time < $1.time }
    }

    mutating func insert(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].time < heap[parent].time else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the earliest entry when its time has come.
    mutating func popDue(now: UInt64) -> Entry? {
        guard let first = heap.first, first.time <= now, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].time < heap[smallest].time { smallest = child }
            }
            guard smallest != parent else { return first }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
