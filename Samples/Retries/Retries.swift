// Shows: which failures are tried again and when, and that a POST is sent once unless it is said to be repeatable.
import Glibc
import NetManager
import Synchronization
import TestServer

@main
struct Retries {
    static func main() async throws {
        // Every URL fails twice, as a service does that is being deployed.
        let counts = Mutex<[String: Int]>([:])
        let server = try TestServer { request in
            let count = counts.withLock { counts in
                counts[request.path, default: 0] += 1
                return counts[request.path] ?? 0
            }
            return count < 3 ? .text("not yet", status: 503) : .json(#"{"attempt": \#(count)}"#)
        }
        defer { server.stop() }

        var policy = RetryPolicy()
        policy.limit = 3
        policy.firstDelay = .milliseconds(20)
        policy.totalLimit = .seconds(10)
        var configuration = HTTPSessionManager.Configuration()
        configuration.retryPolicy = policy
        configuration.eventMonitors = [RequestLog { print("log: \($0)") }]
        let manager = HTTPSessionManager(configuration)

        let got = try await manager.get(server.url("/get"))
        print("GET: \(got)")

        do {
            _ = try await manager.post(server.url("/post"), parameters: ["order": 1])
            exit(1)
        } catch let error as RequestError {
            guard case .unacceptableStatus(503) = error.kind, error.attempt == 1 else { throw error }
            print("POST: \(error)")
        }

        // The server knows the key, and does nothing twice for it.
        var options = RequestOptions()
        options.isRepeatable = true
        let posted = try await manager.post(
            server.url("/repeatable"),
            parameters: ["order": 1],
            headers: ["Idempotency-Key": "8f0c"],
            options: options
        )
        print("POST, repeatable: \(posted)")
        guard got == ["attempt": 3], posted == ["attempt": 3], server.requests.count == 7 else { exit(1) }
    }
}
