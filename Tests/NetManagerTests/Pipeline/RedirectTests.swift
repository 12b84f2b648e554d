import NetManager
import Testing

@Suite struct RedirectTests {
    private static let pinned = SecurityPolicy(
        pinningMode: .publicKey,
        pinnedPublicKeys: Set(
            [PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")].compactMap { $0 }
        )
    )

    /// A server of redirects: path to status and location.
    private func server(_ redirects: [String: (Int, String)]) -> StubTransport {
        StubTransport { request in
            let url = request.url.absoluteString
            guard let (status, location) = redirects[url] else { return .json("1", to: request) }
            return .empty(status, headers: ["location": location], to: request)
        }
    }

    private func urls(_ stub: StubTransport) -> [String] {
        stub.requests.map { "\($0.method) \($0.url.absoluteString)" }
    }

    private func request(_ method: HTTPMethod = .get, _ url: String = "https://a.test/x") throws
        -> HTTPRequest
    {
        HTTPRequest(method, url: try #require(URL(string: url)))
    }

    @Test(arguments: [301, 302, 303])
    func `case 539: POST becomes GET without body and its fields`(status: Int) async throws {
        let stub = server(["https://a.test/x": (status, "/b")])
        var request = try request(.post)
        request.headers = ["Content-Type": "text/plain", "Content-Language": "en", "X-A": "kept"]
        request.body = .data(Data("abc".utf8))
        #expect(try await HTTPSessionManager(stub).send(request).head.status == 200)
        let last = try #require(stub.requests.last)
        #expect(urls(stub) == ["POST https://a.test/x", "GET https://a.test/b"])
        #expect(last.body == nil)
        #expect(last.headers == ["X-A": "kept"])
    }

    @Test(arguments: [
        (HTTPMethod.put, 301), (.put, 302), (.put, 307), (.put, 308), (.post, 307), (.post, 308),
        (.patch, 302),
        (.delete, 301),
    ])
    func `case 541: other methods, and 307 and 308, keep method and body`(method: HTTPMethod, status: Int)
        async throws
    {
        let stub = server(["https://a.test/x": (status, "/b")])
        var request = try request(method)
        request.headers = ["Content-Type": "text/plain"]
        request.body = .data(Data("abc".utf8))
        _ = try await HTTPSessionManager(stub).send(request)
        let last = try #require(stub.requests.last)
        #expect(last.method == method)
        #expect(last.bodyText == "abc")
        #expect(last.headers == ["Content-Type": "text/plain"])
    }

    @Test func `303 turns PUT into GET and leaves HEAD`() async throws {
        let stub = server(["https://a.test/x": (303, "/b")])
        _ = try await HTTPSessionManager(stub).send(try request(.put))
        _ = try await HTTPSessionManager(stub).send(try request(.head))
        #expect(
            urls(stub) == [
                "PUT https://a.test/x", "GET https://a.test/b", "HEAD https://a.test/x",
                "HEAD https://a.test/b",
            ]
        )
    }

    @Test(arguments: [300, 304, 305, 306])
    func `other 3xx lead nowhere`(status: Int) async throws {
        let stub = server(["https://a.test/x": (status, "/b")])
        #expect(try await HTTPSessionManager(stub).send(try request()).head.status == status)
        #expect(stub.requests.count == 1)
    }

    @Test(arguments: [
        "https://b.test/y", "https://a.test:444/y", "https://sub.a.test/y", "//b.test/y",
        "https://a.test.:443/y",
    ])
    func `cases 542, 544, report 51: another origin gets no credentials`(location: String) async throws {
        let stub = server(["https://a.test/x": (302, location)])
        var request = try request()
        request.headers = [
            "Authorization": "1", "Cookie": "2", "Proxy-Authorization": "3", "X-Api-Key": "4",
            "Host": "a.test",
            "Accept": "text/plain", "User-Agent": "me",
        ]
        _ = try await HTTPSessionManager(stub).send(request)
        #expect(stub.requests.count == 2)
        #expect(stub.requests.last?.headers == ["Accept": "text/plain", "User-Agent": "me"])
    }

    @Test(arguments: ["/y", "https://a.test/y", "https://A.TEST:443/y", "?q=1"])
    func `report 51: the same origin keeps them`(location: String) async throws {
        let stub = server(["https://a.test/x": (302, location)])
        var request = try request()
        request.headers = ["Authorization": "1", "X-Api-Key": "4"]
        _ = try await HTTPSessionManager(stub).send(request)
        #expect(stub.requests.count == 2)
        #expect(stub.requests.last?.headers == request.headers)
    }

    @Test func `a field that the caller names goes along`() async throws {
        let stub = server(["https://a.test/x": (302, "https://b.test/")])
        var request = try request()
        request.headers = ["X-Request-ID": "1", "Authorization": "2"]
        let manager = HTTPSessionManager(stub) {
            $0.redirectPolicy.headersKeptAcrossOrigins.insert("x-request-id")
        }
        _ = try await manager.send(request)
        #expect(stub.requests.last?.headers == ["X-Request-ID": "1"])
    }

    @Test func `user info stays within its origin, and a server's is dropped`() async throws {
        let stub = server([
            "https://u:p@a.test/x": (302, "/y"), "https://u:p@a.test/y": (302, "https://evil:e@b.test/z"),
        ])
        _ = try await HTTPSessionManager(stub).send(try request(.get, "https://u:p@a.test/x"))
        #expect(
            urls(stub) == ["GET https://u:p@a.test/x", "GET https://u:p@a.test/y", "GET https://b.test/z"]
        )
    }

    @Test(arguments: [
        ("https://h/a/b/c", "../x?y=1", "https://h/a/x?y=1"), ("https://h/a", "http s", "https://h/http%20s"),
        ("http://h/x", "http://127.0.0.1:8081/x", "http://127.0.0.1:8081/x"),
        ("https://h/a#f", "/b", "https://h/b#f"),
        ("https://h/a#f", "/b#g", "https://h/b#g"),
    ])
    func `cases 545, report 53: Location is relative to the URL that redirects`(
        from: String,
        location: String,
        expected: String
    ) async throws {
        let stub = server([from: (302, location)])
        _ = try await HTTPSessionManager(stub).send(try request(.get, from))
        #expect(stub.requests.last?.url.absoluteString == expected)
    }

    @Test func `case 548: a redirect without Location is the response`() async throws {
        let manager = HTTPSessionManager(StubTransport(status: 302))
        #expect(try await manager.send(try request()).head.status == 302)
    }

    @Test(arguments: ["ftp://h/", "http://", "https://h/\r\nX: y", "javascript:1", "https://b\u{E9}.test/"])
    func `a Location that is no http URL is refused`(location: String) async throws {
        let stub = server(["https://a.test/x": (302, location)])
        let manager = HTTPSessionManager(stub)
        let request = try request()
        let error = await requestError { _ = try await manager.send(request) }
        guard case .redirectRefused? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.response?.head.status == 302)
        #expect(stub.requests.count == 1)
    }

    @Test func `case 547: a circle ends, and so do more redirects than allowed`() async throws {
        let circle = server(["https://a.test/x": (302, "/y"), "https://a.test/y": (302, "/x")])
        let first = await requestError { _ = try await HTTPSessionManager(circle).get("https://a.test/x") }
        guard case .tooManyRedirects? = first?.kind else {
            Issue.record("\(String(describing: first))")
            return
        }
        #expect(circle.requests.count == 2)
        let count = Shared(0)
        let endless = StubTransport { request in
            let next = count.withLock { count in
                count += 1
                return count
            }
            return .empty(302, headers: ["Location": "/\(next)"], to: request)
        }
        let second = await requestError { _ = try await HTTPSessionManager(endless).get("https://a.test/0") }
        guard case .tooManyRedirects? = second?.kind else {
            Issue.record("\(String(describing: second))")
            return
        }
        #expect(endless.requests.count == 21)
        #expect(second?.attempt == 21)
    }

    @Test func `twenty redirects are followed and remembered`() async throws {
        var redirects: [String: (Int, String)] = [:]
        for index in 0..<20 { redirects["https://a.test/\(index)"] = (302, "/\(index + 1)") }
        let stub = server(redirects)
        let request = try request(.get, "https://a.test/0")
        let history = try await HTTPSessionManager(stub).stream(request) { $0.redirects.map(\.url.path) }
        #expect(history == (0..<20).map { "/\($0)" })
        #expect(stub.requests.count == 21)
        #expect(stub.calls.map(\.context.attempt) == Array(1...21))
    }

    @Test func `a circle that sets cookies is followed up to the limit`() async throws {
        let stub = StubTransport { request in
            .empty(302, headers: ["Location": "/x", "Set-Cookie": "a=b"], to: request)
        }
        let manager = HTTPSessionManager(stub) { $0.redirectPolicy.limit = 3 }
        let request = try request()
        _ = await requestError { _ = try await manager.send(request) }
        #expect(stub.requests.count == 4)
    }

    @Test func `https does not lead to http unless it may, and then without credentials`() async throws {
        let stub = server(["https://a.test/x": (302, "http://a.test/y")])
        let manager = HTTPSessionManager(stub)
        var request = try request()
        request.headers = ["Authorization": "1"]
        let error = await requestError { [request] in _ = try await manager.send(request) }
        guard case .redirectRefused? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(stub.requests.count == 1)
        manager.configuration.redirectPolicy.allowsDowngrade = true
        _ = try await manager.send(request)
        #expect(stub.requests.last?.url.scheme == "http")
        #expect(stub.requests.last?.headers.isEmpty == true)
    }

    @Test func `a pinned policy is not led to http, whatever else is allowed`() async throws {
        let stub = server(["https://a.test/x": (302, "http://a.test/y")])
        let manager = HTTPSessionManager(stub) {
            $0.securityPolicy = Self.pinned
            $0.redirectPolicy.allowsDowngrade = true
        }
        let request = try request()
        let error = await requestError { _ = try await manager.send(request) }
        guard case .invalidConfiguration? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(stub.requests.count == 1)
        #expect(error?.response?.head.status == 302)
    }

    @Test func `the policy of the call judges every server on the way`() async throws {
        let stub = server(["https://a.test/x": (302, "https://b.test/y")])
        _ = try await HTTPSessionManager(stub) { $0.securityPolicy = Self.pinned }.send(try request())
        #expect(stub.calls.map(\.context.policy) == [Self.pinned, Self.pinned])
    }

    @Test(arguments: [307, 308])
    func `a body that can be sent once is an error, never an empty body`(status: Int) async throws {
        let stub = server(["https://a.test/x": (status, "/b")])
        var request = try request(.post)
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("abc".utf8))
        continuation.finish()
        request.body = .stream(stream)
        let manager = HTTPSessionManager(stub)
        let error = await requestError { [request] in _ = try await manager.send(request) }
        guard case .redirectRefused? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(stub.requests.map(\.bodyText) == ["abc"])
    }

    @Test func `cases 532, 535, 538: stopping delivers the 3xx, and validated calls fail with it`()
        async throws
    {
        let stub = server(["https://a.test/x": (302, "/b")])
        let manager = HTTPSessionManager(stub)
        manager.configuration.redirectPolicy = .stop
        let response = try await manager.send(try request())
        #expect(response.head.status == 302)
        #expect(response.head.url.absoluteString == "https://a.test/x")
        let error = await requestError { _ = try await manager.get("https://a.test/x") }
        guard case .unacceptableStatus(302)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        manager.configuration.redirectPolicy = .follow
        var options = RequestOptions()
        options.redirectPolicy = .modify { _ in nil }
        #expect(try await manager.send(try request(), options: options).head.status == 302)
    }

    @Test func `cases 481, 533, 536: the hook sees the redirect and may send something else`() async throws {
        let stub = server(["https://a.test/x": (302, "/b")])
        let seen = Shared<[String]>([])
        let patch = try request(.patch, "https://a.test/patch")
        let manager = HTTPSessionManager(stub) {
            $0.redirectPolicy = .modify { redirect in
                seen.withLock {
                    $0.append("\(redirect.response.status) \(redirect.proposedRequest.url.absoluteString)")
                }
                return patch
            }
        }
        let response = try await manager.send(try request())
        #expect(response.head.url.absoluteString == "https://a.test/patch")
        #expect(seen.value == ["302 https://a.test/b"])
        #expect(urls(stub) == ["GET https://a.test/x", "PATCH https://a.test/patch"])
    }

    @Test func `what the hook throws is the call's error`() async throws {
        struct Custom: Error {}
        let stub = server(["https://a.test/x": (302, "/b")])
        let manager = HTTPSessionManager(stub) { $0.redirectPolicy = .modify { _ in throw Custom() } }
        let request = try request()
        let error = await requestError { _ = try await manager.send(request) }
        guard case .custom(is Custom)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `report 53: the time of a call counts all its redirects`() async throws {
        let time = VirtualTime()
        let count = Shared(0)
        let stub = StubTransport { request in
            // So much that the transport's own limit, which goes by the system's clock, is far away.
            time.advance(by: .seconds(1_000))
            let next = count.withLock { count in
                count += 1
                return count
            }
            return .empty(302, headers: ["Location": "/\(next)"], to: request)
        }
        let manager = HTTPSessionManager(stub) {
            $0.time = time.source()
            $0.timeout = .seconds(3_000)
        }
        let request = try request()
        let error = await requestError { _ = try await manager.send(request) }
        guard case .timedOut(.total)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(stub.requests.count == 3)
    }

    @Test func `report 57: the final head has no fields of the redirect`() async throws {
        let stub = StubTransport { request in
            request.url.path == "/x"
                ? .empty(302, headers: ["Location": "/y", "X-B": "1"], to: request)
                : .empty(200, headers: ["X-C": "1"], to: request)
        }
        let headers = try await HTTPSessionManager(stub).send(try request()).head.headers
        #expect(headers["X-B"] == nil)
        #expect(headers["X-C"] == "1")
    }
}
