// Shows: an interceptor that adds a token to every request, and fetches a new one when the server refuses the old:
// once, however many requests are waiting for it.
import Glibc
import NetManager
import Synchronization
import TestServer

/// The token, and the one request for a new one.
actor TokenStore {
    private var token = "expired"
    private var refresh: Task<String, any Error>?
    private let fetch: @Sendable () async throws -> String

    init(_ fetch: @escaping @Sendable () async throws -> String) { self.fetch = fetch }

    func current() -> String { token }

    /// A token other than the one that was refused.
    func replacement(for refused: String) async throws -> String {
        guard token == refused else { return token }
        let running = refresh ?? Task { [fetch] in try await fetch() }
        refresh = running
        defer { refresh = nil }
        token = try await running.value
        return token
    }
}

struct TokenInterceptor: Interceptor {
    let store: TokenStore

    func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
        var request = request
        let token = await store.current()
        request.headers["Authorization"] = "Bearer \(token)"
        let response = try await next(request)
        guard response.head.status == 401 else { return response }
        request.headers["Authorization"] = "Bearer \(try await store.replacement(for: token))"
        return try await next(request)
    }
}

@main
struct TokenRefresh {
    static func main() async throws {
        let issued = Mutex(0)
        let server = try TestServer { request in
            if request.path == "/token" {
                let number = issued.withLock { count in
                    count += 1
                    return count
                }
                return .json(#"{"token": "t\#(number)"}"#)
            }
            guard request.headers["Authorization"] == "Bearer t1" else { return .status(401) }
            return .json(#"{"path": "\#(request.path)"}"#)
        }
        defer { server.stop() }

        // Another manager, whose requests do not pass the interceptor.
        let plain = HTTPSessionManager()
        let tokenURL = server.url("/token")
        let store = TokenStore { try await plain.post(tokenURL)["token"]?.string ?? "" }
        var configuration = HTTPSessionManager.Configuration()
        configuration.interceptors = [TokenInterceptor(store: store)]
        let api = HTTPSessionManager(configuration)
        let urls = (1...5).map { server.url("/\($0)") }
        let answers = try await withThrowingTaskGroup(of: String?.self) { group in
            for url in urls { group.addTask { try await api.get(url)["path"]?.string } }
            var paths: Set<String> = []
            for try await path in group { paths.insert(path ?? "") }
            return paths
        }
        let count = issued.withLock { $0 }
        print("answers: \(answers.sorted()), tokens fetched: \(count)")
        guard answers == ["/1", "/2", "/3", "/4", "/5"], count == 1 else { exit(1) }
    }
}
