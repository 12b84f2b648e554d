import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import TestServer
import Testing

@testable import NetManager

/// Proxies without TLS of their own: what they are told, and what their refusals become.
@Suite struct PlainProxyTests {
    private static let right = ProxyPeer.Credentials(user: "ann", password: "p:w@d")

    private func fetch(
        _ url: String,
        through proxy: Proxy,
        policy: SecurityPolicy = .default,
        on transport: CurlTransport = CurlTransport()
    ) async throws -> HTTPResponse {
        var context = TransportContext(policy: policy, deadline: .now + .seconds(30))
        context.connection.proxy = proxy
        let response = try await transport.send(
            HTTPRequest(url: try #require(URL(string: url)), headers: ["Authorization": "secret"]),
            context: context
        )
        return HTTPResponse(head: response.head, body: try await response.body.collect())
    }

    private func isProxyFailure(_ body: () async throws -> Void) async throws -> String? {
        let error = try await failure(body)
        if case .proxyFailed = error.kind { return error.detail ?? "" }
        Issue.record("\(error)")
        return nil
    }

    @Test func `a tunnel through HTTP with a password leaves the proxy only host and port`() async throws {
        let pinned = try PinnedServer()
        let peer = try ProxyPeer(credentials: Self.right)
        let proxy = Proxy.http(
            host: "localhost",
            port: peer.port,
            credentials: .init(user: "ann", password: "p:w@d")
        )
        _ = try await fetch(pinned.server.url("/secret?q"), through: proxy, policy: pinned.pinned)
        let passage = try #require(peer.passages.first)
        #expect(passage.means == .connect && passage.host == "localhost")
        #expect(passage.headers["Authorization"] == nil)
        let request = try #require(pinned.server.requests.first)
        #expect(request.headers["Proxy-Authorization"] == nil)
        #expect(request.headers["Authorization"] == "secret")
    }

    @Test(arguments: [nil, Proxy.Credentials(user: "ann", password: "wrong")])
    func `407 to a tunnel is the proxy's failure, and the server hears nothing`(
        credentials: Proxy.Credentials?
    ) async throws {
        let pinned = try PinnedServer()
        let peer = try ProxyPeer(credentials: Self.right)
        let proxy = Proxy.http(host: "localhost", port: peer.port, credentials: credentials)
        let detail = try await isProxyFailure {
            _ = try await fetch(pinned.server.url(), through: proxy, policy: pinned.pinned)
        }
        #expect(detail?.contains("407") == true)
        #expect(peer.refusals >= 1)
        #expect(pinned.server.counters.connections == 0)
    }

    @Test func `407 to a request without TLS is the response`() async throws {
        let server = try TestServer { _ in .json("{}") }
        let peer = try ProxyPeer(credentials: Self.right)
        let response = try await fetch(server.url(), through: .http(host: "localhost", port: peer.port))
        #expect(response.head.status == 407)
        #expect(server.counters.connections == 0)
    }

    @Test func `a proxy's refusal is not remembered for the next transfer`() async throws {
        let pinned = try PinnedServer()
        let transport = CurlTransport()
        let peer = try ProxyPeer(refusal: 403)
        let proxy = Proxy.http(host: "localhost", port: peer.port)
        let detail = try await isProxyFailure {
            _ = try await fetch(pinned.server.url(), through: proxy, policy: pinned.pinned, on: transport)
        }
        #expect(detail?.contains("403") == true)
        let error = try await failure {
            _ = try await fetch(pinned.server.url(), through: .none, on: transport)
        }
        guard case .untrustedServer = error.kind else {
            Issue.record("\(error)")
            return
        }
        _ = try await fetch(pinned.server.url(), through: .none, policy: pinned.pinned, on: transport)
    }

    @Test(arguments: [
        nil, Proxy.Credentials(user: "ann", password: "wrong"), .init(user: "bob", password: "p:w@d"),
    ])
    func `a tunnel that one user opened carries nobody else's request`(other: Proxy.Credentials?) async throws
    {
        let pinned = try PinnedServer()
        let peer = try ProxyPeer(credentials: Self.right)
        let transport = CurlTransport()
        func ask(_ credentials: Proxy.Credentials?) async throws {
            let proxy = Proxy.http(host: "localhost", port: peer.port, credentials: credentials)
            let url = pinned.server.url()
            _ = try await fetch(url, through: proxy, policy: pinned.pinned, on: transport)
        }
        let own = Proxy.Credentials(user: "ann", password: "p:w@d")
        try await ask(own)
        let detail = try await isProxyFailure { try await ask(other) }
        #expect(detail?.contains("407") == true)
        try await ask(own)
        #expect(pinned.server.counters.connections == 1 && pinned.server.counters.requests == 2)
    }

    @Test func `SOCKS 5 with a password is given names to resolve`() async throws {
        let pinned = try PinnedServer()
        let peer = try ProxyPeer(.socks5, credentials: Self.right)
        let right = Proxy.Credentials(user: "ann", password: "p:w@d")
        let proxy = Proxy.socks5(host: "localhost", port: peer.port, credentials: right)
        _ = try await fetch(pinned.server.url(), through: proxy, policy: pinned.pinned)
        #expect(peer.passages.first?.means == .socks(byName: true))
        #expect(peer.passages.first?.host == "localhost")
        // Trust is the same as without the proxy.
        let error = try await failure {
            _ = try await fetch(
                pinned.server.url(),
                through: proxy,
                policy: try PinnedServer.strictAboutAnother(.publicKey)
            )
        }
        guard case .untrustedServer(.pinMismatch) = error.kind else {
            Issue.record("\(error)")
            return
        }
        _ = try await isProxyFailure {
            let wrong = Proxy.Credentials(user: "ann", password: "no")
            let proxy = Proxy.socks5(host: "localhost", port: peer.port, credentials: wrong)
            _ = try await fetch(pinned.server.url(), through: proxy, policy: pinned.pinned)
        }
        #expect(pinned.server.counters.requests == 1)
    }

    @Test func `a proxy that is not there is the proxy's failure`() async throws {
        let gone = try ProxyPeer()
        let port = gone.port
        gone.stop()
        for proxy in [
            Proxy.http(host: "127.0.0.1", port: port), .https(host: "127.0.0.1", port: port),
            .socks5(host: "127.0.0.1", port: port),
        ] {
            _ = try await isProxyFailure { _ = try await fetch("https://localhost/", through: proxy) }
        }
    }

    @Test func `a host that is excepted is asked directly`() async throws {
        let server = try TestServer { _ in .json("{}") }
        let peer = try ProxyPeer()
        var proxy = Proxy.http(host: "localhost", port: peer.port)
        proxy.exceptions = ["127.0.0.0/8"]
        _ = try await fetch(server.url(host: "127.0.0.1"), through: proxy)
        #expect(peer.passages.isEmpty)
        _ = try await fetch(server.url(host: "localhost"), through: proxy)
        #expect(peer.passages.map(\.host) == ["localhost"])
    }

    @Test(arguments: [
        ("example.com", "example.com"), ("example.com", "www.EXAMPLE.com"), (".example.com", "example.com"),
        ("example.com.", "a.b.example.com"), ("a b,example.com", "example.com."), ("*", "any.test"),
        ("127.0.0.1", "127.0.0.1"), ("10.0.0.0/8", "10.9.8.7"), ("0.0.0.0/0", "8.8.8.8"),
        ("192.168.4.0/22", "192.168.7.255"), ("::1", "[::1]"), ("[::1]", "::1"), ("fc00::/7", "[fd00::1]"),
    ])
    func `an exception covers a host`(list: String, host: String) {
        #expect(ProxyExceptions(list).cover(host))
    }

    @Test(arguments: [
        ("", "example.com"), ("example.com", "notexample.com"), ("www.example.com", "example.com"),
        (".", "example.com"), ("*.example.com", "www.example.com"), ("*,b", "any.test"),
        ("10.0.0.0/8", "11.0.0.1"), ("10.0.0.0/33", "10.0.0.0"), ("10.0.0.0/-1", "10.0.0.0"),
        ("10.0.0.0/", "10.0.0.0"), ("0.0.0.0/0", "::1"), ("0.0.0.1", "127.0.0.1"), ("1", "127.0.0.1"),
    ])
    func `an exception does not cover a host`(list: String, host: String) {
        #expect(!ProxyExceptions(list).cover(host))
    }
}
