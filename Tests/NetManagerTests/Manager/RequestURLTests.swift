import NetManager
import Testing

@Suite struct RequestURLTests {
    /// The URL that is sent for what is written.
    private func sent(_ text: String, base: String? = nil) async throws -> String {
        let stub = StubTransport(json: "{}")
        let configuration = HTTPSessionManager.Configuration(baseURL: base.flatMap { URL(string: $0) })
        _ = try await HTTPSessionManager(configuration, transport: stub).get(text)
        return try #require(stub.requests.first).url.absoluteString
    }

    @Test(arguments: [
        ("foo", "http://example.com/v1/foo"), ("foo?bar=baz", "http://example.com/v1/foo?bar=baz"),
        ("/foo", "http://example.com/foo"), ("foo/", "http://example.com/v1/foo/"),
        ("/foo/", "http://example.com/foo/"), ("http://example2.com/", "http://example2.com/"),
        ("", "http://example.com/v1/"),
    ])
    func `case 503: relative paths stand below the base`(text: String, expected: String) async throws {
        #expect(try await sent(text, base: "http://example.com/v1/") == expected)
    }

    @Test(arguments: [
        ("http://h/v1", "foo", "http://h/v1/foo"), ("http://h/v1/", "/foo", "http://h/foo"),
        ("http://h", "foo", "http://h/foo"), ("http://h/v1?q=1#f", "foo", "http://h/v1/foo"),
    ])
    func `report 17: the base's path is kept with or without its slash`(
        base: String,
        text: String,
        expected: String
    )
        async throws
    {
        #expect(try await sent(text, base: base) == expected)
    }

    @Test(arguments: [
        ("http://h/a b", "http://h/a%20b"), ("http://h/é?q=ü", "http://h/%C3%A9?q=%C3%BC"),
        ("http://h/%41%zz", "http://h/%41%25zz"), ("http://h/?a[]=1", "http://h/?a%5B%5D=1"),
        ("http://h/%41 b", "http://h/%41%20b"), ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("HTTP://H/", "HTTP://H/"),
    ])
    func `what may not stand in a path or query is escaped once`(text: String, expected: String) async throws
    {
        #expect(try await sent(text) == expected)
    }

    @Test(arguments: [
        "http://[::1", "http://", "http:///x", "http:x", "foo://x", "ftp://h/x", "file:///etc/passwd", "",
        "users",
        "//h/x", "http://h:99999/", "http://h:65536/", "http://h:123456/", "http://h:8a/", "http://a b/",
        "http://h%00/", "http://evil%2ecom/",
        "http://good\\@evil/", "http://bücher.example/", "http://us er@h/", "javascript:alert(1)",
    ])
    func `case 505, report 65: what is no http URL fails without traffic`(text: String) async {
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(transport: stub)
        let ended = await outcome { manager.get(text, success: $0, failure: $1) }
        guard case .invalidURL? = ended.error?.kind else {
            Issue.record("accepted, or another error: \(ended)")
            return
        }
        let thrown = await requestError { _ = try await manager.get(text) }
        guard case .invalidURL? = thrown?.kind else {
            Issue.record("accepted, or another error: \(String(describing: thrown))")
            return
        }
        #expect(stub.requests.isEmpty)
    }

    @Test(arguments: [
        "http://h/a\r\n\r\nGET /evil HTTP/1.1", "http://h/?q=a\r\nX: y", "http://h/\u{0}", "http://h/a\tb",
        "http://h\r\n/", "\nhttp://h/", "http://h/\u{7F}",
    ])
    func `report 63: a line break in path or query fails and is not escaped away`(text: String) async {
        let stub = StubTransport(json: "{}")
        let error = await requestError { _ = try await HTTPSessionManager(transport: stub).get(text) }
        guard case .invalidURL? = error?.kind else {
            Issue.record("accepted, or another error: \(String(describing: error))")
            return
        }
        #expect(stub.requests.isEmpty)
        let text = error.map { "\($0)" } ?? ""
        #expect(!text.utf8.contains { $0 < 0x20 }, "the error's text would break a log")
    }
}
