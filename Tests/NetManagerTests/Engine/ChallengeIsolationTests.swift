import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// What a server has asked, and what it was told, is nothing to any other server, and nothing to any other user.
///
/// libcurl keeps both with the handle, and handles carry one request after the other.
@Suite struct ChallengeIsolationTests {
    /// A server that lets nobody in but who proves one user's password, and what it was shown.
    private struct Guarded {
        let server: TestServer
        let shown: Shared<[String?]>

        init(realm: String, user: String) throws {
            let digest = DigestGuard(realm: realm, user: user, password: "\(user)'s")
            let shown = Shared<[String?]>([])
            self.shown = shown
            server = try TestServer { request in
                let field = request.headers["Authorization"]
                shown.withLock { $0.append(field) }
                return digest.accepts(field, method: request.method, targets: [request.target])
                    ? .text(user) : Answer.status(401).header("WWW-Authenticate", digest.challenge())
            }
        }
    }

    private static func user(_ name: String, _ schemes: Authentication.Schemes = .digest) -> Authentication {
        Authentication(user: name, password: "\(name)'s", schemes: schemes)
    }

    private func status(
        of server: TestServer,
        for authentication: Authentication?,
        proxy: Proxy = .none,
        over transport: CurlTransport
    ) async throws -> Int {
        var context = TransportContext(policy: PinnedServer.lenient, deadline: .now + .seconds(300))
        context.delivery = .buffered(limit: 1000)
        context.authentication = authentication
        context.connection.proxy = proxy
        let url = try #require(URL(string: server.url("/a?b=c")))
        let response = try await transport.send(HTTPRequest(url: url), context: context)
        _ = try await response.body.collect()
        return response.head.status
    }

    @Test(arguments: [Authentication.Schemes.digest, [.digest, .basic], [.digest, .basic, .ntlm]])
    func `what one server asks is not shown to the next`(schemes: Authentication.Schemes) async throws {
        let first = try Guarded(realm: "first", user: "ada.one")
        let second = try Guarded(realm: "second", user: "bob.two")
        let transport = CurlTransport()
        for _ in 0..<2 {
            for (guarded, user) in [(first, "ada.one"), (second, "bob.two")] {
                let status = try await status(
                    of: guarded.server,
                    for: Self.user(user, schemes),
                    over: transport
                )
                #expect(status == 200)
            }
        }
        // Each is asked, and then told what it wants to know.
        #expect(first.shown.value.first == .some(nil))
        #expect(second.shown.value.first == .some(nil))
        // No nonce or digest has a dot in it.
        for (own, foreign) in [(first, ["second", "bob.two"]), (second, ["first", "ada.one"])] {
            #expect(own.shown.value.count { $0 != nil } >= 2)
            for field in own.shown.value { #expect(foreign.allSatisfy { field?.contains($0) != true }) }
        }
    }

    @Test func `what a server asks one user is not answered for another`() async throws {
        let guarded = try Guarded(realm: "realm", user: "ada")
        let transport = CurlTransport()
        var statuses: [Int] = []
        for user in ["ada", "eve", "ada", "eve"] {
            statuses.append(try await status(of: guarded.server, for: Self.user(user), over: transport))
        }
        #expect(statuses == [200, 401, 200, 401])
        // Each nonce is given to one request, and shown by one user alone.
        let users = Dictionary(grouping: guarded.shown.value.compactMap { $0 }) { field in
            field.split(separator: "nonce=\"").last?.prefix { $0 != "\"" }
        }
        .mapValues { Set($0.map { $0.contains("username=\"ada\"") }) }
        #expect(!users.isEmpty)
        #expect(users.values.allSatisfy { $0.count == 1 })
    }

    @Test(arguments: [Authentication.Schemes.basic, [.basic, .digest], [.basic, .ntlm]])
    func `a password is not sent in the clear because the server before wanted it so`(
        schemes: Authentication.Schemes
    ) async throws {
        let first = try TestServer {
            $0.headers["Authorization"] == nil
                ? Answer.status(401).header("WWW-Authenticate", "Basic realm=\"r\"") : .text("in")
        }
        let second = try Guarded(realm: "second", user: "bob")
        let transport = CurlTransport()
        #expect(try await status(of: first, for: Self.user("ada", schemes), over: transport) == 200)
        let choice = Self.user("bob", [.basic, .digest])
        #expect(try await status(of: second.server, for: choice, over: transport) == 200)
        #expect(second.shown.value.first == .some(nil))
        #expect(second.shown.value.allSatisfy { $0?.hasPrefix("Basic") != true })
    }

    @Test func `a server is not asked again by a user whom it has let in`() async throws {
        let guarded = try Guarded(realm: "realm", user: "ada")
        let transport = CurlTransport()
        var context = TransportContext(deadline: .now + .seconds(300))
        context.delivery = .buffered(limit: 1000)
        context.authentication = Self.user("ada")
        let url = try #require(URL(string: guarded.server.url("/a")))
        for _ in 0..<3 {
            let response = try await transport.send(HTTPRequest(url: url), context: context)
            #expect(response.head.status == 200)
        }
        // One question for three requests.
        #expect(guarded.shown.value.count == 4)
        #expect(guarded.shown.value.count { $0 == nil } == 1)
    }

    /// Whether the request goes through a tunnel.
    private enum Way: CaseIterable {
        case plain, tunnel
    }

    @Test(arguments: Way.allCases, [Authentication.Schemes.digest, [.digest, .basic]])
    private func `what one proxy asks is not shown to the next`(way: Way, schemes: Authentication.Schemes)
        async throws
    {
        let server =
            way == .plain ? try TestServer { _ in .text("in") } : try PinnedServer { _ in .text("in") }.server
        let realms = ["first", "second", "open"]
        let peers = try realms.map { realm in
            let digest = DigestGuard(realm: realm, user: realm, password: "p")
            return try ProxyPeer(asking: realm == "open" ? nil : .digest(digest))
        }
        let transport = CurlTransport()
        // The third asks nobody.
        for place in [0, 1, 2, 0, 2, 1, 0] {
            var credentials = Proxy.Credentials(user: realms[place], password: "p")
            credentials.schemes = schemes
            let proxy = Proxy.http(
                host: "localhost",
                port: peers[place].port,
                credentials: place < 2 ? credentials : nil
            )
            #expect(try await status(of: server, for: nil, proxy: proxy, over: transport) == 200)
        }
        #expect(peers.map { $0.authorizations.first } == Array(repeating: .some(nil), count: 3))
        #expect(peers[0].authorizations.allSatisfy { $0?.contains("second") != true })
        #expect(peers[1].authorizations.allSatisfy { $0?.contains("first") != true })
        #expect(peers[2].authorizations.allSatisfy { $0 == nil })
        #expect(server.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
    }

    @Test(arguments: Way.allCases)
    private func `what a proxy asks one user is not answered for another`(way: Way) async throws {
        let server =
            way == .plain ? try TestServer { _ in .text("in") } : try PinnedServer { _ in .text("in") }.server
        let peer = try ProxyPeer(asking: .digest(DigestGuard(realm: "proxy", user: "ada", password: "p")))
        let transport = CurlTransport()
        var outcomes: [Int?] = []
        for user in ["ada", "eve", "ada", "eve"] {
            var credentials = Proxy.Credentials(user: user, password: "p")
            credentials.schemes = .digest
            let proxy = Proxy.http(host: "localhost", port: peer.port, credentials: credentials)
            outcomes.append(try? await status(of: server, for: nil, proxy: proxy, over: transport))
        }
        #expect(outcomes == (way == .plain ? [200, 407, 200, 407] : [200, nil, 200, nil]))
        #expect(server.counters.requests == 2)
        let users = Dictionary(grouping: peer.authorizations.compactMap { $0 }) { field in
            field.split(separator: "nonce=\"").last?.prefix { $0 != "\"" }
        }
        .mapValues { Set($0.map { $0.contains("username=\"ada\"") }) }
        #expect(!users.isEmpty)
        #expect(users.values.allSatisfy { $0.count == 1 })
    }

    @Test(arguments: Way.allCases)
    private func `a password for one proxy is not sent to the next`(way: Way) async throws {
        let server =
            way == .plain ? try TestServer { _ in .text("in") } : try PinnedServer { _ in .text("in") }.server
        let first = try ProxyPeer(credentials: .init(user: "ada", password: "p"))
        let second = try ProxyPeer(
            asking: .digest(DigestGuard(realm: "second", user: "bob", password: "q"))
        )
        let open = try ProxyPeer()
        let transport = CurlTransport()
        let basic = Proxy.Credentials(user: "ada", password: "p")
        var choice = Proxy.Credentials(user: "bob", password: "q")
        choice.schemes = [.basic, .digest]
        for (peer, credentials) in [(first, basic), (open, nil), (first, basic), (second, choice)] {
            let proxy = Proxy.http(host: "localhost", port: peer.port, credentials: credentials)
            #expect(try await status(of: server, for: nil, proxy: proxy, over: transport) == 200)
        }
        #expect(open.authorizations == [nil])
        #expect(second.authorizations.first == .some(nil))
        #expect(second.authorizations.allSatisfy { $0?.hasPrefix("Basic") != true })
    }
}
