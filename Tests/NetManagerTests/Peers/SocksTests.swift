import NetManager
import TestPKI
import TestServer
import Testing

/// Through a real SOCKS 5 proxy.
@Suite(.enabled(if: SocksPeer.isInstalled, "microsocks is installed by scripts/test"))
struct SocksTests {
    private let socks: SocksPeer

    init() async throws {
        socks = try await started { try SocksPeer() }
    }

    private func manager(
        password: String = SocksPeer.user.password,
        _ policy: SecurityPolicy = .default
    ) -> HTTPSessionManager {
        var configuration = HTTPSessionManager.Configuration(securityPolicy: policy)
        configuration.connection.proxy = .socks5(
            host: "127.0.0.1",
            port: socks.port,
            credentials: .init(user: SocksPeer.user.name, password: password)
        )
        return HTTPSessionManager(configuration, transport: CurlTransport())
    }

    @Test func `requests pass with and without TLS, and a pin is a pin`() async throws {
        let plain = try TestServer { .json("\($0.bodyLength)") }
        #expect(try await manager().post(plain.url(), parameters: ["a": "b"]) == 3)
        let pinned = try PinnedServer()
        #expect(try await manager(pinned.pinned).get(pinned.server.url()) == [:])
        let stranger = manager(try PinnedServer.strictAboutAnother(.publicKey))
        let error = await requestError { _ = try await stranger.get(pinned.server.url()) }
        #expect(error?.label == "untrusted_server")
        #expect(pinned.server.requests.count == 1)
    }

    @Test func `a wrong password is the proxy's failure`() async throws {
        let server = try TestServer { _ in .json("1") }
        let error = await requestError { _ = try await manager(password: "wrong").get(server.url()) }
        #expect(error?.label == "proxy_failed")
        #expect(server.counters.connections == 0)
    }

    @Test func `a server that is not there, and a name that is none, are the proxy's failure`() async throws {
        let server = try TestServer { _ in .json("1") }
        let port = server.port
        server.stop()
        for url in ["http://localhost:\(port)/", "https://localhost:\(port)/", "http://name.invalid/"] {
            let error = await requestError { _ = try await manager().get(url) }
            #expect(error?.label == "proxy_failed", "\(String(describing: error))")
        }
    }

    @Test func `1 MiB passes both ways`() async throws {
        let server = try TestServer { .data($0.body) }
        let body = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let url = try #require(URL(string: server.url()))
        #expect(try await manager().send(HTTPRequest(.put, url: url, body: .data(body))).body == body)
    }
}
