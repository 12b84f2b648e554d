import NetManager
import TestServer
import Testing

@Suite struct RequestErrorTests {
    private static let kinds: [RequestError.Kind] = [
        .invalidURL, .invalidRequest("a"), .invalidConfiguration("a"),
        .certificate(.notFound(name: "n", searched: ["/p"])), .certificate(.malformed(reason: "r")),
        .cancelled,
        .timedOut(.queue), .timedOut(.resolve), .timedOut(.connect), .timedOut(.tls), .timedOut(.send),
        .timedOut(.firstByte), .timedOut(.idle), .timedOut(.total), .nameNotResolved, .cannotConnect,
        .proxyFailed,
        .untrustedServer(.noCertificate), .tlsFailed, .clientCertificateRefused, .connectionLost,
        .outcomeUnknown,
        .protocolError, .tooManyRedirects, .redirectRefused("a"), .unacceptableStatus(404),
        .unacceptableStatus(7),
        .unacceptableStatus(-1), .unacceptableContentType(nil), .unacceptableContentType("text/html"),
        .undecodable(.emptyBody), .bodyTooLarge, .file("/f: gone"), .shutDown, .custom(CancellationError()),
    ]

    @Test(arguments: [
        "https://h/p?\u{301}token=secret", "https://h/p#\u{FE0F}\u{20E3}secret", "//u:secret@h/p",
        "u:secret@h/p", "https:\\\\u:secret@h/p", "https://u:secret@\u{301}h/p", "https:/u:secret@h/p",
        "https://u:secret?x@h/p", "https://u:secret#x@h/p", "https://u:secret/x@h/p",
    ])
    func `a text that is no URL gives no secret away either`(url: String) {
        let text = "\(RequestError(.invalidURL, method: .get, url: url))"
        #expect(!text.contains("secret"), "\(text)")
    }

    @Test func `a content type that is none is not repeated`() {
        let error = RequestError(
            .unacceptableContentType("my secret\rvalue"),
            method: .get,
            url: "https://h/"
        )
        #expect(!"\(error)".contains("secret"))
        let html = RequestError(.unacceptableContentType("text/html"), method: .get, url: "https://h/")
        #expect("\(html)".contains("text/html"))
    }

    @Test(arguments: kinds)
    func `the text names method, host and path and no secret`(kind: RequestError.Kind) {
        let url = "https://user:pass@api.example.com:8443/users/1?token=secret#part"
        let body = HTTPResponse(
            head: HTTPResponse.Head(
                status: 200,
                headers: ["Set-Cookie": "secret"],
                url: URL(filePath: "/secret")
            ),
            body: Data("secret".utf8)
        )
        let error = RequestError(kind, method: .post, url: url, attempt: 2, response: body, libcurlCode: 28)
        let text = "\(error)"
        #expect(text.hasPrefix("POST https://api.example.com:8443/users/1 failed: "))
        #expect(text.contains("attempt 2"))
        #expect(text.contains("libcurl code 28"))
        for secret in ["secret", "token", "user:", "pass", "part"] {
            #expect(!text.contains(secret), "\(text)")
        }
        #expect(!text.contains(".."))
    }

    @Test(arguments: [
        ("users", "It is relative, and the manager has no baseURL. Write an absolute"),
        ("", "It is empty, and the manager has no baseURL. Write an absolute"),
        (
            "localhost:8080/users",
            "What looks like a host and a port has no scheme before it. Write an absolute"
        ),
        ("ftp://localhost/", "Its scheme is ftp; only http and https are supported. Write an absolute"),
    ])
    func `a URL that cannot be requested is told what it lacks, once`(url: String, text: String) async throws
    {
        let error = await #expect(throws: RequestError.self) {
            try await HTTPSessionManager(transport: StubTransport(json: "{}")).get(url)
        }
        let description = "\(try #require(error))"
        #expect(description.contains(text), "\(description)")
        #expect(!description.contains("failed: the URL cannot be requested. Write"))
    }

    @Test func `https where http is spoken is told to check the scheme`() async throws {
        let server = try TestServer { _ in .text("plain") }
        let url = "https://localhost:\(server.port)/"
        let error = await #expect(throws: RequestError.self) { try await HTTPSessionManager.shared.get(url) }
        guard case .tlsFailed = try #require(error).kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect("\(try #require(error))".contains("seems to speak plain http on this port"))
    }

    @Test func `labels are words of a small vocabulary`() {
        let labels = Set(Self.kinds.map { RequestError($0, method: .get, url: "https://h/").label })
        let isWord = { (label: String) in
            !label.isEmpty
                && label.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
                }
        }
        #expect(labels.allSatisfy(isWord))
        #expect(
            labels.isSuperset(of: ["timed_out_first_byte", "status_4xx", "status_other", "untrusted_server"])
        )
        let statuses = Set(
            (0...2000).map { RequestError(.unacceptableStatus($0), method: .get, url: "").label }
        )
        #expect(statuses.count == 10)
    }

    @Test func `the phase and the detail are told`() {
        let error = RequestError(
            .connectionLost,
            method: .get,
            url: "https://h/p",
            attempt: 1,
            detail: "Recv failure.",
            phase: .idle
        )
        #expect(
            "\(error)"
                == "GET https://h/p failed: the connection broke (while in phase idle, attempt 1). Recv failure."
        )
    }

    @Test(arguments: [
        ("https://h/p?q", "https://h/p"), ("https://u:p@h/p#f", "https://h/p"),
        ("https://u@x@h", "https://h"),
        ("https://h/p@q", "https://h/p@q"), ("users?token=1", "users"), ("", ""),
        ("a\r\nb", "a\u{FFFD}\u{FFFD}b"),
    ])
    func `a URL is shown without user info, query and fragment`(url: String, expected: String) {
        #expect(RequestError(.invalidURL, method: .get, url: url).request.url == expected)
    }

    @Test func `case 103: a failed pin is not a cancellation`() async {
        let policy = SecurityPolicy(pinningMode: .certificate)
        let manager = HTTPSessionManager(StubTransport()) { $0.securityPolicy = policy }
        let ended: Outcome<JSONValue> = await outcome { manager.get("x", success: $0, failure: $1) }
        if case .cancelled? = ended.error?.kind { Issue.record("told as cancelled") }
        #expect(ended.error?.label == "untrusted_server")
    }
}
