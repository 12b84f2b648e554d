import Glibc

/// How many names are looked up at a time, and who waits for his turn.
///
/// libcurl looks each name up on a thread of its own, which nobody can end: it goes on when its transfer has ended, for as
/// long as the system's resolver waits for an answer, half a minute where no name server gives one. Such threads cannot be
/// told of their end either, so they are counted when somebody waits for it.
struct LookUps {
    /// The most look-ups at a time, those among them that nobody waits for any more.
    static let limit = 256
    /// What a count of the threads, which reads a file for each, may cost: 256 are read in two milliseconds.
    private static let interval: UInt64 = 100_000_000
    /// When threads that cannot be counted are taken for ended: a resolver asks three servers twice for five seconds.
    private static let patience: UInt64 = 30_000_000_000

    /// Those whose transfers wait for them.
    private(set) var running = 0
    /// Those that nobody waits for any more; some of them may have ended.
    private(set) var abandoned = 0
    private var waiting: [TransferID] = []
    /// With more than these, those who have left are looked for.
    private var mostWaiting = 64
    private var nextCount: UInt64 = 0
    private var lastAbandoned: UInt64 = 0
    private let countThreads: () -> Int?

    /// Makes a count of nothing.
    /// - Parameter countThreads: How many threads of this process look names up; nil where nobody can say.
    init(countThreads: @escaping () -> Int? = Self.threads) {
        self.countThreads = countThreads
    }

    private var room: Int { Self.limit - running - abandoned }

    /// A name is about to be looked up.
    /// - Returns: False when it must not be yet.
    mutating func begin() -> Bool {
        guard room > 0 else { return false }
        running += 1
        return true
    }

    /// A look-up has ended.
    mutating func end() {
        running -= 1
    }

    /// A transfer has ended while its name was looked up.
    mutating func abandon(now: UInt64) {
        running -= 1
        abandoned += 1
        lastAbandoned = now
    }

    /// A transfer waits for its turn.
    mutating func wait(_ id: TransferID) {
        waiting.append(id)
    }

    /// A transfer gives up its turn, and may wait for another one later.
    mutating func leave(_ id: TransferID) {
        waiting.removeAll { $0 == id }
    }

    /// Whether anybody may wait: who has left is forgotten later.
    var isAwaited: Bool { !waiting.isEmpty }

    /// Takes those whose turn it is.
    /// - Parameter waits: Whether one is still waiting.
    /// - Returns: Who may go on.
    mutating func admitted(_ waits: (TransferID) -> Bool) -> [TransferID] {
        guard room > 0 || waiting.count > mostWaiting else { return [] }
        waiting.removeAll { !waits($0) }
        mostWaiting = 2 * waiting.count + 64
        let admitted = waiting.prefix(max(0, room))
        waiting.removeFirst(admitted.count)
        return Array(admitted)
    }

    /// Counts the threads that have not ended, where that lets somebody go on.
    /// - Returns: When to look again; nil for never.
    mutating func look(now: UInt64) -> UInt64? {
        guard isAwaited, abandoned > 0 else { return nil }
        guard nextCount <= now else { return nextCount }
        if let threads = countThreads() {
            abandoned = min(abandoned, max(0, threads - running))
        } else if lastAbandoned + Self.patience <= now {
            abandoned = 0
        }
        nextCount = now + Self.interval
        return room > 0 ? now : nextCount
    }

    /// The threads of this process that are named as an engine's, as those are that it makes, but for the engines.
    private static func threads() -> Int? {
        guard let folder = opendir("/proc/self/task") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let number = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let file = fopen("/proc/self/task/\(number)/comm", "re") else { continue }
            defer { fclose(file) }
            var name = [UInt8](repeating: 0, count: 32)
            let length = fread(&name, 1, name.count, file)
            if name.prefix(length).dropLast().elementsEqual(Engine.threadName.utf8) { count += 1 }
        }
        return count - EngineRegistry.count
    }
}
