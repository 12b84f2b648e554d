import FoundationEssentials
import HTTPMessage
import TestPKI
import TestServer
import Testing

@testable import NetManager

/// A proxy that wants a password proven, and proxies that ask for what nobody has.
@Suite struct ProxyDigestTests {
    private static let password = "s3cret-p:w@d"

    /// How a request goes: to a proxy over TLS or not, and through a tunnel or not.
    private struct Way: CustomTestStringConvertible {
        var isTunnel: Bool
        var isSecure: Bool

        static let all = [false, true].flatMap { tunnel in
            [false, true].map { Way(isTunnel: tunnel, isSecure: $0) }
        }
        var testDescription: String {
            "\(isTunnel ? "a tunnel" : "a request") \(isSecure ? "over TLS" : "in the clear")"
        }
    }

    /// A server behind a proxy, and what came of a request through it.
    private struct Route {
        let peer: ProxyPeer
        let server: TestServer
        let asked = Shared<[String]>([])
        let manager: HTTPSessionManager

        init(
            _ way: Way,
            asking asks: ProxyPeer.Asks?,
            credentials: Proxy.Credentials? = nil,
            handler: @escaping @Sendable (AuthenticationChallenge) -> ChallengeDisposition
        ) throws {
            let identity = try Identity.selfSigned(PinnedServer.certificateOptions)
            let tls = TLSOptions(identity: identity)
            peer = try ProxyPeer(way.isSecure ? .https(tls) : .http, asking: asks)
            server = try TestServer(tls: way.isTunnel ? tls : nil) { .text($0.text) }
            var configuration = HTTPSessionManager.Configuration(securityPolicy: PinnedServer.lenient)
            configuration.connection.proxy =
                way.isSecure
                ? .https(
                    host: "localhost",
                    port: peer.port,
                    policy: PinnedServer.lenient,
                    credentials: credentials
                )
                : .http(host: "localhost", port: peer.port, credentials: credentials)
            let asked = asked
            configuration.challengeHandler = { challenge in
                asked.withLock { $0.append(challenge.scheme) }
                return handler(challenge)
            }
            manager = HTTPSessionManager(configuration, transport: CurlTransport())
        }

        /// Posts a text, and waits until nothing more can come of it.
        func outcomes() async -> [Result<String, RequestError>] {
            let outcomes = Shared<[Result<String, RequestError>]>([])
            let first = Latch()
            let tell: @Sendable (Result<String, RequestError>) -> Void = { outcome in
                outcomes.withLock { $0.append(outcome) }
                first.open()
            }
            manager.post(
                server.url("/a?b=c"),
                parameters: ["text": "body"],
                as: .string,
                success: { tell(.success($1)) },
                failure: { tell(.failure($1)) }
            )
            await first.wait()
            #expect(await manager.shutdown(deadline: .seconds(60)))
            return outcomes.value
        }
    }

    /// Checks that a request was refused by the proxy, once, and that nothing tells who asked.
    private func expectRefusal(_ route: Route, _ way: Way) async throws {
        let outcomes = await route.outcomes()
        #expect(outcomes.count == 1)
        guard case .failure(let error)? = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(way.isTunnel ? error.label == "proxy_failed" : error.response?.head.status == 407)
        let text = "\(error)"
        let token = Data("ada:\(Self.password)".utf8).base64EncodedString()
        for secret in ["ada", Self.password, "nonce", token] { #expect(!text.contains(secret), "\(text)") }
        #expect(route.server.counters.connections == 0)
    }

    @Test(arguments: Way.all)
    private func `a password is proven to the proxy, and shown to nobody`(way: Way) async throws {
        let digest = DigestGuard(realm: "proxy", user: "ada", password: Self.password)
        let route = try Route(way, asking: .digest(digest)) { challenge in
            challenge.isProxy && challenge.realm == "proxy"
                ? .useCredential(Authentication(user: "ada", password: Self.password)) : .cancel
        }
        let outcomes = await route.outcomes()
        #expect(outcomes.compactMap { try? $0.get() } == ["text=body"])
        #expect(outcomes.count == 1)
        #expect(route.asked.value == ["digest"])
        // The server has the request once, with its content, and nothing that was for the proxy.
        #expect(route.server.requests.map(\.text) == ["text=body"])
        for field in route.server.requests.flatMap(\.headers.fields) {
            #expect(!["authorization", "proxy-authorization"].contains(field.name.lowercased()))
            #expect(!field.value.contains("ada"))
        }
        for field in route.peer.authorizations {
            #expect(field?.hasPrefix("Basic") != true)
            #expect(field?.contains(Self.password) != true)
        }
        #expect(route.peer.passages.count == 1)
    }

    @Test(arguments: Way.all)
    private func `a wrong password for Digest is one refusal`(way: Way) async throws {
        let digest = DigestGuard(realm: "proxy", user: "ada", password: "another")
        let route = try Route(way, asking: .digest(digest)) { challenge in
            challenge.failureCount == 0
                ? .useCredential(Authentication(user: "ada", password: Self.password))
                : .rejectProtectionSpace
        }
        try await expectRefusal(route, way)
        #expect(route.asked.value == ["digest", "digest"])
    }

    @Test(arguments: Way.all)
    private func `a wrong password for Basic is one refusal`(way: Way) async throws {
        let right = ProxyPeer.Credentials(user: "ada", password: "another")
        let route = try Route(
            way,
            asking: .basic(right),
            credentials: .init(user: "ada", password: Self.password)
        ) { _ in
            .performDefaultHandling
        }
        try await expectRefusal(route, way)
        #expect(route.asked.value == ["basic"])
        // It is not repeated.
        #expect(route.peer.refusals == 1)
    }

    @Test(arguments: Way.all, ["Unknown realm=\"x\"", "Bearer", "", nil])
    private func `a proxy that asks for what nobody has is one refusal`(way: Way, challenge: String?)
        async throws
    {
        let route = try Route(way, asking: .impossible(challenge)) { _ in .cancel }
        try await expectRefusal(route, way)
        #expect(route.asked.value.isEmpty)
        #expect(route.peer.authorizations == [nil])
    }

    @Test(arguments: Way.all)
    private func `a proxy that is content with no proof is given up`(way: Way) async throws {
        // It knows another user alone, and asks for ever.
        let digest = DigestGuard(realm: "proxy", user: "bob", password: Self.password)
        let route = try Route(way, asking: .digest(digest)) { _ in
            .useCredential(Authentication(user: "ada", password: Self.password))
        }
        try await expectRefusal(route, way)
        #expect(route.asked.value.count == 11)
        #expect(route.peer.refusals <= 40)
    }

    @Test(arguments: [false, true])
    func `the proxy and the server behind it have each its own proof`(isTunnel: Bool) async throws {
        let outer = DigestGuard(realm: "proxy", user: "ada", password: "p")
        let inner = DigestGuard(realm: "server", user: "bob.two", password: "q")
        let peer = try ProxyPeer(asking: .digest(outer))
        let identity = try Identity.selfSigned(PinnedServer.certificateOptions)
        let server = try TestServer(tls: isTunnel ? TLSOptions(identity: identity) : nil) { request in
            let field = request.headers["Authorization"]
            return inner.accepts(field, method: request.method, targets: [request.target])
                ? .text("in") : Answer.status(401).header("WWW-Authenticate", inner.challenge())
        }
        var configuration = HTTPSessionManager.Configuration(securityPolicy: PinnedServer.lenient)
        configuration.connection.proxy = .http(host: "localhost", port: peer.port)
        configuration.challengeHandler = { challenge in
            .useCredential(
                challenge.isProxy
                    ? Authentication(user: "ada", password: "p")
                    : Authentication(user: "bob.two", password: "q")
            )
        }
        let manager = HTTPSessionManager(configuration, transport: CurlTransport())
        for _ in 0..<3 { #expect(try await manager.get(server.url("/a"), as: .string) == "in") }
        for request in server.requests {
            #expect(request.headers["Proxy-Authorization"] == nil)
            #expect(request.headers["Authorization"]?.contains("proxy") != true)
        }
        #expect(peer.authorizations.allSatisfy { $0?.contains("server") != true })
        #expect(peer.authorizations.allSatisfy { $0?.contains("bob.two") != true })
    }
}
