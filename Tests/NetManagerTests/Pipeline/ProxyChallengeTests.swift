import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// A proxy that wants to know who is there, and the handler that is asked.
@Suite struct ProxyChallengeTests {
    private static let right = Authentication(user: "ann", password: "p:w@d")
    private static let wrong = Authentication(user: "ann", password: "wrong")

    /// Whether the request goes through a tunnel.
    private enum Way: CaseIterable {
        case plain, tunnel
    }

    /// A server behind a proxy, a manager that goes through it, and what its handler was asked.
    private struct Route {
        let peer: ProxyPeer
        let pinned: PinnedServer
        let plain: TestServer
        let asked = Shared<[AuthenticationChallenge]>([])
        let manager: HTTPSessionManager

        init(
            credentials: Proxy.Credentials? = nil,
            _ handler: @escaping ChallengeHandler
        ) throws {
            peer = try ProxyPeer(credentials: .init(user: "ann", password: "p:w@d"))
            pinned = try PinnedServer { .text($0.text) }
            plain = try TestServer { .text($0.text) }
            var configuration = HTTPSessionManager.Configuration(securityPolicy: PinnedServer.lenient)
            configuration.connection.proxy = .http(
                host: "localhost",
                port: peer.port,
                credentials: credentials
            )
            let asked = asked
            configuration.challengeHandler = { challenge in
                asked.withLock { $0.append(challenge) }
                return try await handler(challenge)
            }
            manager = HTTPSessionManager(configuration, transport: CurlTransport())
        }

        func url(_ way: Way) -> String { way == .plain ? plain.url("/a") : pinned.server.url("/a") }

        func server(_ way: Way) -> TestServer { way == .plain ? plain : pinned.server }

        func post(_ way: Way) async throws -> String {
            let url = try #require(URL(string: url(way)))
            let request = HTTPRequest(.post, url: url, body: .data(Data("body".utf8)))
            return String(decoding: try await manager.send(request).body, as: UTF8.self)
        }
    }

    @Test(arguments: Way.allCases)
    private func `the handler is asked for the proxy, and its answer goes to the proxy alone`(way: Way)
        async throws
    {
        let route = try Route { _ in .useCredential(Self.right) }
        #expect(try await route.post(way) == "body")
        #expect(route.asked.value.count == 1)
        let challenge = try #require(route.asked.value.first)
        #expect(challenge.isProxy)
        #expect(challenge.scheme == "basic")
        #expect(challenge.realm == "proxy")
        #expect(challenge.host == "localhost")
        #expect(challenge.port == route.peer.port)
        #expect(!challenge.isSecure)
        #expect(challenge.failureCount == 0)
        #expect(challenge.proposedCredential == nil)
        #expect(challenge.response.status == 407)
        #expect(challenge.request.method == .post)
        let requests = route.server(way).requests
        #expect(requests.map(\.text) == ["body"])
        #expect(requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
        #expect(requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test(arguments: Way.allCases)
    private func `what the proxy refused is counted, and the handler may answer again`(way: Way) async throws
    {
        let route = try Route(credentials: .init(user: "ann", password: "old")) { challenge in
            .useCredential(challenge.failureCount < 2 ? Self.wrong : Self.right)
        }
        #expect(try await route.post(way) == "body")
        #expect(route.asked.value.map(\.failureCount) == [1, 2])
        #expect(route.asked.value.first?.proposedCredential?.password == "old")
        #expect(route.server(way).counters.requests == 1)
    }

    @Test(arguments: Way.allCases)
    private func `a handler that repeats itself is not asked for ever`(way: Way) async throws {
        let route = try Route { _ in .useCredential(Self.wrong) }
        let error = await requestError { _ = try await route.manager.get(route.url(way), as: .data) }
        #expect(way == .plain ? error?.response?.head.status == 407 : error?.label == "proxy_failed")
        #expect(route.asked.value.count == 11)
        #expect(route.server(way).counters.connections == 0)
    }

    @Test(arguments: Way.allCases, [ChallengeDisposition.performDefaultHandling, .rejectProtectionSpace])
    private func `without an answer the caller has the refusal`(way: Way, disposition: ChallengeDisposition)
        async throws
    {
        let route = try Route { _ in disposition }
        let error = await requestError { _ = try await route.manager.get(route.url(way), as: .data) }
        #expect(way == .plain ? error?.response?.head.status == 407 : error?.label == "proxy_failed")
        #expect(route.asked.value.count == 1)
        #expect(route.server(way).counters.connections == 0)
    }

    @Test(arguments: Way.allCases)
    private func `a handler that cancels ends the call`(way: Way) async throws {
        let route = try Route { _ in .cancel }
        let error = await requestError { _ = try await route.manager.get(route.url(way), as: .data) }
        #expect(error?.label == "cancelled")
        #expect(route.peer.refusals == 1)
    }

    @Test func `a server that speaks as a proxy is not answered`() async throws {
        let asked = Shared(0)
        let pinned = try PinnedServer { _ in
            Answer.status(407).header("Proxy-Authenticate", "Basic realm=\"proxy\"")
        }
        let peer = try ProxyPeer()
        for proxy in [Proxy.http(host: "localhost", port: peer.port), .none] {
            var configuration = HTTPSessionManager.Configuration(securityPolicy: PinnedServer.lenient)
            configuration.connection.proxy = proxy
            configuration.challengeHandler = { _ in
                asked.withLock { $0 += 1 }
                return .useCredential(Self.right)
            }
            let manager = HTTPSessionManager(configuration, transport: CurlTransport())
            let error = await requestError { _ = try await manager.get(pinned.server.url(), as: .data) }
            #expect(error?.response?.head.status == 407)
        }
        #expect(asked.value == 0)
        #expect(pinned.server.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
    }

    @Test func `the proxy and the server behind it are answered one after the other`() async throws {
        let server = try TestServer { request in
            request.headers["Authorization"] == "Basic dXNlcjpwYXNzd2Q="
                ? .text("in") : Answer.status(401).header("WWW-Authenticate", "Basic realm=\"server\"")
        }
        let peer = try ProxyPeer(credentials: .init(user: "ann", password: "p:w@d"))
        let asked = Shared<[String?]>([])
        var configuration = HTTPSessionManager.Configuration()
        configuration.connection.proxy = .http(host: "localhost", port: peer.port)
        configuration.challengeHandler = { challenge in
            asked.withLock { $0.append(challenge.realm) }
            return .useCredential(
                challenge.isProxy ? Self.right : Authentication(user: "user", password: "passwd")
            )
        }
        let manager = HTTPSessionManager(configuration, transport: CurlTransport())
        #expect(try await manager.get(server.url(), as: .string) == "in")
        #expect(asked.value == ["proxy", "server"])
    }
}
