/// Who may have a connection where their number is limited, and in which order the others wait: the most urgent first,
/// and of equally urgent ones the one that came first.
///
/// libcurl keeps the limits too, but lets those wait in the order in which they came.
struct ConnectionQueue {
    /// What libcurl counts connections by.
    struct Host: Hashable {
        let name: String
        let port: Int
        let proxy: String
    }

    private struct Place {
        let host: Host
        var priority: RequestPriority
        /// When it came, in numbers that grow.
        let number: UInt64
        var isInside = false
    }

    /// Those who wait for one host, in a heap: the next one first.
    private struct Line {
        var inside = 0
        var waiting = PriorityHeap()
        /// How many wait; the heap has entries of others too.
        var waiters = 0
    }

    private let mostPerHost: Int
    private let most: Int
    private var places: [TransferID: Place] = [:]
    private var lines: [Host: Line] = [:]
    private var inside = 0
    private var lastNumber: UInt64 = 0

    /// How many entries are kept for a host, for tests.
    func entries(at host: Host) -> Int { lines[host]?.waiting.count ?? 0 }

    /// Makes a queue with libcurl's limits; 0 for none.
    init(mostPerHost: Int, most: Int) {
        self.mostPerHost = mostPerHost
        self.most = most
    }

    /// Whether nobody ever waits.
    var isUnlimited: Bool { mostPerHost <= 0 && most <= 0 }

    /// A transfer wants a connection.
    /// - Returns: False when it has to wait until it is named by another function.
    mutating func mayEnter(_ id: TransferID, host: Host, priority: RequestPriority) -> Bool {
        guard !isUnlimited else { return true }
        lastNumber += 1
        var place = Place(host: host, priority: priority, number: lastNumber)
        place.isInside = hasRoom && hasRoom(at: host)
        places[id] = place
        if place.isInside {
            inside += 1
            lines[host, default: Line()].inside += 1
        } else {
            lines[host, default: Line()].waiters += 1
            lines[host]?.waiting.insert(
                .init(id: id, priority: priority, number: place.number)
            )
        }
        return place.isInside
    }

    /// A transfer needs no connection of its own any more, or does not wait for one any more.
    /// - Returns: Who may go on.
    mutating func leave(_ id: TransferID) -> [TransferID] {
        guard let place = places.removeValue(forKey: id) else { return [] }
        guard place.isInside else {
            lines[place.host]?.waiters -= 1
            tidy(place.host)
            forget(place.host)
            return []
        }
        inside -= 1
        lines[place.host]?.inside -= 1
        defer { forget(place.host) }
        return admitted(besides: place.host)
    }

    /// A transfer that waits is as urgent as this from now on.
    mutating func prioritize(_ id: TransferID, _ priority: RequestPriority) {
        guard var place = places[id], !place.isInside else { return }
        place.priority = priority
        places[id] = place
        // The entry before does not match its place any more and is skipped.
        lines[place.host]?.waiting.insert(.init(id: id, priority: priority, number: place.number))
        tidy(place.host)
    }

    /// Drops the entries of those who have left or have another priority by now, where they are many.
    ///
    /// Those at the top are dropped when their turn comes, but one who waits for hours may stand above them.
    private mutating func tidy(_ host: Host) {
        guard let line = lines[host], line.waiting.count > 2 * line.waiters + 64 else { return }
        let places = places
        lines[host]?.waiting.keep { entry in
            places[entry.id].map { !$0.isInside && $0.priority == entry.priority } ?? false
        }
    }

    private var hasRoom: Bool { most <= 0 || inside < most }

    private func hasRoom(at host: Host) -> Bool {
        mostPerHost <= 0 || lines[host]?.inside ?? 0 < mostPerHost
    }

    /// Lets as many in as there is room for now: of one host where only that has a limit, else of any.
    private mutating func admitted(besides host: Host) -> [TransferID] {
        var ids: [TransferID] = []
        while hasRoom {
            let hosts = most > 0 ? Array(lines.keys) : [host]
            let candidates = hosts.compactMap { host in
                hasRoom(at: host) ? next(of: host).map { (host: host, entry: $0) } : nil
            }
            guard let best = candidates.min(by: { $0.entry < $1.entry }) else { break }
            lines[best.host]?.waiting.removeFirst()
            lines[best.host]?.inside += 1
            lines[best.host]?.waiters -= 1
            places[best.entry.id]?.isInside = true
            inside += 1
            ids.append(best.entry.id)
        }
        return ids
    }

    /// Who is next at a host; entries of those who have left, or have another priority by now, are dropped.
    private mutating func next(of host: Host) -> PriorityHeap.Entry? {
        while let entry = lines[host]?.waiting.first {
            if let place = places[entry.id], !place.isInside, place.priority == entry.priority {
                return entry
            }
            lines[host]?.waiting.removeFirst()
        }
        return nil
    }

    private mutating func forget(_ host: Host) {
        guard let line = lines[host], line.inside == 0, next(of: host) == nil else { return }
        lines[host] = nil
    }
}

/// A binary heap of those who wait, the next one first.
struct PriorityHeap {
    struct Entry: Comparable {
        let id: TransferID
        let priority: RequestPriority
        let number: UInt64

        static func < (left: Entry, right: Entry) -> Bool {
            left.priority == right.priority ? left.number < right.number : left.priority > right.priority
        }
    }

    private var heap: [Entry] = []

    var first: Entry? { heap.first }

    var count: Int { heap.count }

    /// Forgets the entries that are not wanted, and those that are there twice.
    mutating func keep(where isWanted: (Entry) -> Bool) {
        var known: Set<TransferID> = []
        // What is sorted is a heap.
        heap = heap.filter { isWanted($0) && known.insert($0.id).inserted }.sorted()
    }

    mutating func insert(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child] < heap[parent] else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child] < heap[smallest] { smallest = child }
            }
            guard smallest != parent else { return }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
