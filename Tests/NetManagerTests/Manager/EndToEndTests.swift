import NetManager
import TestServer
import Testing

/// The manager and the wrapper over real connections.
@Suite struct EndToEndTests {
    private func manager(_ folder: TemporaryFolder? = nil) -> HTTPSessionManager {
        HTTPSessionManager(CurlTransport()) { $0.certificateDirectories = [folder?.path].compactMap { $0 } }
    }

    @Test func `cases 494, 499, 500: the verbs reach a server as they are meant`() async throws {
        let server = try TestServer { request in
            .json(#"{"method":"\#(request.method)","target":"\#(request.target)"}"#)
        }
        let manager = manager()
        let url = server.url("/x", host: "127.0.0.1")
        let json = try await manager.get(url, parameters: ["q": "a+b c"])
        #expect(json == ["method": "GET", "target": "/x?q=a%2Bb%20c"])
        #expect(try await manager.put(url, parameters: ["a": 1]) == ["method": "PUT", "target": "/x"])
        #expect(
            try await manager.delete(url, parameters: ["a": 1]) == ["method": "DELETE", "target": "/x?a=1"]
        )
        #expect(try await manager.head(url).status == 200)
        let ended: Outcome<JSONValue> = await outcome { success, failure in
            manager.patch(url, parameters: ["a": 1], success: success, failure: failure)
        }
        #expect(ended.value == ["method": "PATCH", "target": "/x"])
    }

    @Test func `case 481, report 57: a redirect is followed to the final head`() async throws {
        let server = try TestServer { request in
            request.target == "/redirect/1"
                ? .redirect(to: "/get").header("X-B", "1") : .json("1").header("X-C", "1")
        }
        let manager = manager()
        let head = try await manager.head(server.url("/redirect/1", host: "127.0.0.1"))
        #expect(head.url.path == "/get")
        #expect(head.headers["X-B"] == nil)
        #expect(head.headers["X-C"] == "1")
    }

    @Test func `the wrapper trusts a named certificate and nothing else`() async throws {
        let server = try PinnedServer { _ in .json(#"{"a":1}"#) }
        let other = try PinnedServer { _ in .json("2") }
        let folder = try TemporaryFolder()
        try server.certificate.der.write(to: URL(filePath: folder.path + "/server.cer"))
        let wrapper = AKNetPackegeAFN(manager: manager(folder))

        func call(_ url: String, signature: String?) async -> Result<JSONValue, any Error> {
            await withCheckedContinuation { done in
                wrapper.netWorkType(
                    .post,
                    signature: signature,
                    api: url,
                    parameters: ["k": "v"],
                    success: { done.resume(returning: .success($0)) },
                    fail: { done.resume(returning: .failure($0)) }
                )
            }
        }

        #expect(try await call(server.server.url(), signature: "server").get() == ["a": 1])
        for (url, signature) in [(other.server.url(), "server"), (server.server.url(), nil)] {
            let error = try await failure { _ = try await call(url, signature: signature).get() }
            guard case .untrustedServer = error.kind else {
                Issue.record("\(error)")
                continue
            }
        }
        #expect(other.server.counters.requests == 0)
        #expect(server.server.counters.requests == 1)
    }

    @Test func `users' code stays off the engine's thread over real connections`() async throws {
        let server = try TestServer { _ in .json("1") }
        let engineThread = Shared<Set<String>>([])
        let usersThreads = Shared<Set<String>>([])
        struct Noting: Interceptor {
            let threads: Shared<Set<String>>

            func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
                threads.withLock { $0.insert(threadName()) }
                let response = try await next(request)
                threads.withLock { $0.insert(threadName()) }
                return response
            }
        }
        struct OnEngine: ResponseSerializer, LibrarySerializer {
            let threads: Shared<Set<String>>
            var validation = ResponseValidation()

            func serialize(_ response: HTTPResponse) throws(SerializationError) -> Int {
                threads.withLock { $0.insert(threadName()) }
                return 1
            }
        }
        let manager = HTTPSessionManager(CurlTransport()) {
            $0.interceptors = [Noting(threads: usersThreads)]
        }
        let ended: Outcome<Int> = await outcome { success, failure in
            manager.get(
                server.url("/", host: "127.0.0.1"),
                as: OnEngine(threads: engineThread),
                success: success,
                failure: failure
            )
        }
        #expect(ended.value == 1)
        #expect(usersThreads.value.isDisjoint(with: engineThread.value))
    }
}

/// What tells the calling thread from others.
private func threadName() -> String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? "?"
}
