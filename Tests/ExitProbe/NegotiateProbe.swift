import NetManager
import Synchronization

/// Sends requests with the tickets of this process, which its environment names, and prints what came of each.
///
/// A line has the status, the content or the client's port as the server sees it (ApachePeer), or the error; the last
/// line counts the outcomes.
enum NegotiateProbe {
    private final class Counter: Sendable {
        private let number = Atomic<Int>(0)

        /// Counts one more, and returns how many that makes.
        @discardableResult
        func add() -> Int { number.wrappingAdd(1, ordering: .relaxed).newValue }
        var count: Int { number.load(ordering: .relaxed) }
    }

    /// - Parameter rounds: What is sent at once, separated by commas: who asks, method and URL. `nobody` has no credentials,
    ///   `ticket` those of the process, `any` lets the server choose the scheme, `asked` waits for its challenge, `hasty` and
    ///   `brief` are `ticket` and `nobody` with three seconds' time, and any other name is put beside the ticket. `via:PORT:`
    ///   before it leads through a proxy.
    /// - Returns: The exit status: 0 when there was an outcome for each request.
    static func run(_ rounds: [String]) async -> Int32 {
        let policy = SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false)
        let manager = HTTPSessionManager(.init(securityPolicy: policy), transport: CurlTransport())
        let outcomes = Counter()
        for round in rounds {
            let steps = round.split(separator: ",").map { $0.split(separator: " ").map(String.init) }
            guard steps.allSatisfy({ $0.count == 3 }) else { return 2 }
            let lines = await withTaskGroup(of: (Int, String).self) { group in
                for (number, step) in steps.enumerated() {
                    group.addTask {
                        let own = Counter()
                        let line = await withCheckedContinuation { continuation in
                            send(step, with: manager) { line in
                                outcomes.add()
                                if own.add() == 1 { continuation.resume(returning: line) }
                            }
                        }
                        return (number, line)
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for number in steps.indices { print(lines[number] ?? "") }
        }
        // Whatever else might be told is told by then.
        guard await manager.shutdown(deadline: .seconds(60)) else { return 3 }
        print(outcomes.count)
        return 0
    }

    private static func send(
        _ step: [String],
        with manager: HTTPSessionManager,
        _ tell: @escaping @Sendable (String) -> Void
    ) {
        var options = RequestOptions()
        let way = step[0].split(separator: ":")
        if way.count == 3, let port = Int(way[1]) {
            var connection = ConnectionOptions()
            connection.proxy = .http(host: "localhost", port: port)
            options.connection = connection
        }
        let who = way.last.map(String.init) ?? ""
        switch who {
        case "nobody": break
        case "brief": options.timeout = .seconds(3)
        case "hasty":
            options.timeout = .seconds(3)
            options.authentication = .negotiate
        case "ticket": options.authentication = .negotiate
        case "any":
            let schemes: Authentication.Schemes = [.negotiate, .digest]
            options.authentication = Authentication(user: "any", password: "", schemes: schemes)
        case "asked":
            options.challengeHandler = { challenge in
                challenge.scheme == "negotiate" && challenge.failureCount == 0
                    ? .useCredential(.negotiate) : .performDefaultHandling
            }
        default: options.authentication = Authentication(user: who, password: "", schemes: .negotiate)
        }
        let failed: @Sendable (RequestTask, RequestError) -> Void = { _, error in
            guard let head = error.response?.head else { return tell("error: \(error)") }
            tell("\(head.status) \(head.headers["X-Connection"] ?? "")")
        }
        if step[1] == "POST" {
            manager.post(
                step[2],
                parameters: ["text": "0123456789"],
                options: options,
                as: .string,
                success: { tell("200 \($1)") },
                failure: failed
            )
        } else {
            manager.get(
                step[2],
                options: options,
                as: .string,
                success: { tell("200 \($1)") },
                failure: failed
            )
        }
    }
}
