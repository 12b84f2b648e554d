import Glibc

/// What the clients are asked to do: `STYLE get|download|upload URL COUNT IN-FLIGHT WARM-UP [ROOT [HOSTS [POLICIES [LOOPS]]]]`.
package struct Arguments: Sendable {
    /// What is transferred.
    package enum Workload: String, Sendable {
        case get, download, upload
    }

    /// Bytes of one upload.
    package static let uploadSize = 256 << 20

    package let style: String
    package let workload: Workload
    package let url: String
    package let count: Int
    package let inFlight: Int
    package let warmUp: Int
    /// A PEM file with the one trusted root; nil for plain http.
    package let root: String?
    /// How many hosts take turns: `{n}` in the URL stands for a host's number, `{ip}` for two parts of its address.
    package let hosts: Int
    /// How many security policies take turns.
    package let policies: Int
    /// How many threads carry the requests.
    package let loops: Int

    /// The URL of each host.
    package var urls: [String] {
        (0..<hosts).map { host in
            url.replacing("{n}", with: "\(host)")
                .replacing("{ip}", with: "\(1 + host / 250).\(1 + host % 250)")
        }
    }

    /// Reads the command line; ends the program when it cannot.
    package init() {
        let words = CommandLine.arguments
        guard words.count >= 7, let workload = Workload(rawValue: words[2]), let count = Int(words[4]),
            let inFlight = Int(words[5]), let warmUp = Int(words[6]), count > 0, inFlight > 0
        else {
            let optional = "[ROOT [HOSTS [POLICIES [LOOPS]]]]"
            print("usage: STYLE get|download|upload URL COUNT IN-FLIGHT WARM-UP \(optional)")
            exit(2)
        }
        style = words[1]
        self.workload = workload
        url = words[3]
        self.count = count
        self.inFlight = inFlight
        self.warmUp = warmUp
        root = words.count > 7 && !words[7].isEmpty ? words[7] : nil
        hosts = words.count > 8 ? max(1, Int(words[8]) ?? 1) : 1
        policies = words.count > 9 ? max(1, Int(words[9]) ?? 1) : 1
        loops = words.count > 10 ? max(1, Int(words[10]) ?? 1) : 1
    }
}

/// Runs requests until `count` are done, so many at a time, each lane in a task of its own.
/// - Returns: How many failed.
package func runLanes(
    _ count: Int,
    inFlight: Int,
    _ request: @escaping @Sendable () async -> Bool
) async -> Int {
    await withTaskGroup(of: Int.self) { group in
        for lane in 0..<min(inFlight, count) {
            let share = count / inFlight + (lane < count % inFlight ? 1 : 0)
            group.addTask {
                var errors = 0
                for _ in 0..<share where await !request() { errors += 1 }
                return errors
            }
        }
        return await group.reduce(0, +)
    }
}

/// Runs requests of the closure style until `count` are done, so many at a time: each completion begins the next.
/// - Returns: How many failed.
package func runClosures(
    _ count: Int,
    inFlight: Int,
    _ request: @escaping @Sendable (@escaping @Sendable (Bool) -> Void) -> Void
) async -> Int {
    await withCheckedContinuation { continuation in
        let chain = ClosureChain(count: count, request: request) { continuation.resume(returning: $0) }
        for _ in 0..<min(inFlight, count) { chain.next() }
    }
}
