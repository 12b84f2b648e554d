import NetManager
import Testing

@Suite struct InterceptorTests {
    private struct Naming: Interceptor {
        let name: String
        let log: Shared<[String]>

        func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
            log.withLock { $0.append("\(name) in") }
            var request = request
            request.headers.add(name, for: "X-Path")
            let response = try await next(request)
            log.withLock { $0.append("\(name) out") }
            return response
        }
    }

    private struct Block: Interceptor {
        let body: @Sendable (HTTPRequest, Next) async throws -> StreamedResponse

        func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
            try await body(request, next)
        }
    }

    @Test func `interceptors stand in their order and see a call once, whatever is retried`() async throws {
        let log = Shared<[String]>([])
        let stub = StubTransport { request in
            request.url.path == "/v1/x"
                ? .empty(302, headers: ["Location": "y"], to: request) : .empty(503, to: request)
        }
        let manager = HTTPSessionManager(stub) {
            $0.interceptors = [Naming(name: "a", log: log), Naming(name: "b", log: log)]
            $0.retryPolicy = RetryPolicy()
            $0.time = VirtualTime().source()
        }
        _ = await requestError { _ = try await manager.get("x") }
        #expect(log.value == ["a in", "b in", "b out", "a out"])
        #expect(stub.requests.count == 6)
        #expect(stub.requests.first?.headers[values: "X-Path"] == ["a", "b"])
        #expect(stub.calls.map(\.context.attempt) == [1, 2, 3, 4, 5, 6])
    }

    @Test func `an interceptor may answer by itself, and nothing is sent`() async throws {
        let stub = StubTransport()
        let manager = HTTPSessionManager(stub) {
            $0.interceptors = [
                Block { request, _ in
                    StreamedResponse(
                        head: HTTPResponse.Head(
                            status: 200,
                            headers: ["Content-Type": "application/json"],
                            url: request.url
                        ),
                        body: ResponseBody(Data("[1]".utf8))
                    )
                }
            ]
        }
        #expect(try await manager.get("x") == [1])
        #expect(stub.requests.isEmpty)
    }

    @Test func `an interceptor may send again, but not a body that can be sent once`() async throws {
        let stub = StubTransport(status: 401)
        let twice = Block { request, next in
            _ = try await next(request)
            return try await next(request)
        }
        let manager = HTTPSessionManager(stub) { $0.interceptors = [twice] }
        let url = try #require(URL(string: "https://h/"))
        _ = try await manager.send(HTTPRequest(.put, url: url, body: .data(Data("abc".utf8))))
        #expect(stub.requests.map(\.bodyText) == ["abc", "abc"])
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("abc".utf8))
        continuation.finish()
        let error = await requestError {
            _ = try await manager.send(HTTPRequest(.put, url: url, body: .stream(stream)))
        }
        guard case .invalidRequest? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(stub.requests.count == 3)
    }

    @Test func `what an interceptor throws reaches both styles`() async throws {
        struct Custom: Error {}
        let manager = HTTPSessionManager(StubTransport()) {
            $0.interceptors = [Block { _, _ in throw Custom() }]
        }
        let thrown = await requestError { _ = try await manager.get("x") }
        let ended: Outcome<JSONValue> = await outcome { manager.get("x", success: $0, failure: $1) }
        for error in [thrown, ended.error] {
            guard case .custom(is Custom)? = error?.kind else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(error?.attempt == 0)
        }
    }
}

@Suite struct StubTransportTests {
    @Test func `a body is recorded as its bytes, whatever it was`() async throws {
        let stub = StubTransport(status: 201)
        let url = try #require(URL(string: "https://h/"))
        let manager = HTTPSessionManager(stub)
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("ab".utf8))
        continuation.yield(Data("c".utf8))
        continuation.finish()
        #expect(
            try await manager.send(HTTPRequest(.put, url: url, body: .stream(stream, length: 3))).head.status
                == 201
        )
        let folder = try TemporaryFolder()
        try Data("file".utf8).write(to: URL(filePath: folder.path + "/f"))
        _ = try await manager.send(HTTPRequest(.put, url: url, body: .file(folder.path + "/f")))
        #expect(stub.requests.map(\.bodyText) == ["abc", "file"])
    }

    @Test func `a stream of another length than declared, and a file that is not there, fail`() async throws {
        let stub = StubTransport()
        let url = try #require(URL(string: "https://h/"))
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("abc".utf8))
        continuation.finish()
        let long = await requestError {
            _ = try await HTTPSessionManager(stub).send(
                HTTPRequest(.put, url: url, body: .stream(stream, length: 2))
            )
        }
        #expect(long?.label == "invalid_request")
        let missing = await requestError {
            _ = try await HTTPSessionManager(stub).send(
                HTTPRequest(.put, url: url, body: .file("/nonexistent/f"))
            )
        }
        #expect(missing?.label == "file")
        #expect(stub.requests.isEmpty)
    }
}
