import NetManager
import Testing

@Suite struct RequestRulesTests {
    private static let pinned = SecurityPolicy(
        pinningMode: .publicKey,
        pinnedPublicKeys: Set(
            [PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")].compactMap { $0 }
        )
    )

    private func failure(
        _ url: String = "https://h/x",
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        policy: SecurityPolicy = .default
    ) async throws -> (RequestError?, sent: Int) {
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(stub) { $0.securityPolicy = policy }
        let request = HTTPRequest(method, url: try #require(URL(string: url)), headers: headers)
        return (await requestError { _ = try await manager.send(request) }, stub.requests.count)
    }

    @Test(arguments: ["a\r\n\r\nGET /evil HTTP/1.1", "a\nb", "a\rb", "a\u{0}b"])
    func `report 63: a line break or NUL in a header value is refused before any byte`(value: String)
        async throws
    {
        let (error, sent) = try await failure(headers: ["X": value])
        guard case .invalidRequest(let reason)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("X"))
        #expect(!"\(try #require(error))".contains("evil"))
        #expect(sent == 0)
    }

    @Test(arguments: ["", "a b", "a:b", "a\r\nb", "é"])
    func `report 63: a header name that is no token is refused and not repeated`(name: String) async throws {
        let (error, sent) = try await failure(headers: [name: "x"])
        guard case .invalidRequest? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sent == 0)
        #expect(!"\(try #require(error))".utf8.contains { $0 < 0x20 })
    }

    @Test(arguments: ["", "G T", "GET\r\nX: y", "CONNECT"])
    func `a method that is no token, or is a proxy's, is refused`(method: String) async throws {
        let (error, sent) = try await failure(method: HTTPMethod(rawValue: method))
        guard case .invalidRequest? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sent == 0)
    }

    @Test(arguments: ["http://h/x", "HTTP://h/x", "http://127.0.0.1:8080/"])
    func `cases 98, 100, report 31: pins and plain http do not go together`(url: String) async throws {
        let (error, sent) = try await failure(url, policy: Self.pinned)
        guard case .invalidConfiguration? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sent == 0)
    }

    @Test func `cases 95, 97, 101: pins with https are fine, with a base URL and without`() async throws {
        let (error, sent) = try await failure(policy: Self.pinned)
        #expect(error == nil)
        #expect(sent == 1)
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(transport: stub)
        manager.securityPolicy = Self.pinned
        _ = try await manager.get("https://h/x")
        #expect(stub.calls.first?.context.policy == Self.pinned)
    }

    @Test(arguments: [SecurityPolicy.PinningMode.publicKey, .certificate])
    func `a pinning mode without pins fails before any traffic`(mode: SecurityPolicy.PinningMode) async throws
    {
        let (error, sent) = try await failure(policy: SecurityPolicy(pinningMode: mode))
        guard case .untrustedServer(.noPinsConfigured)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sent == 0)
    }

    @Test func `allowing everything while checking the name fails before any traffic`() async throws {
        let (error, sent) = try await failure(policy: SecurityPolicy(allowInvalidCertificates: true))
        guard case .untrustedServer(.domainValidationNeedsPinsOrTrust)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sent == 0)
    }

    @Test func `what an interceptor makes of a request is checked too`() async throws {
        struct Injecting: Interceptor {
            func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
                var request = request
                request.headers["X"] = "a\r\nb"
                return try await next(request)
            }
        }
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(stub) { $0.interceptors = [Injecting()] }
        let error = await requestError { _ = try await manager.get("x") }
        guard case .invalidRequest? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(stub.requests.isEmpty)
    }
}
