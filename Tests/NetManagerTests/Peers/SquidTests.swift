import NetManager
import TestPKI
import TestServer
import Testing

/// Through a real proxy, over HTTP and over HTTPS.
@Suite(.enabled(if: SquidPeer.isInstalled, "squid is installed by scripts/test"))
struct SquidTests {
    private let squid: SquidPeer
    private let proxyCertificate: Certificate

    init() async throws {
        let identity = try Identity.selfSigned(PinnedServer.certificateOptions)
        proxyCertificate = try Certificate(der: identity.certificateDER)
        squid = try await started { try SquidPeer(identity) }
    }

    private enum Way: CaseIterable {
        case http, https
    }

    private func proxy(
        _ way: Way,
        user: String = SquidPeer.user.name,
        password: String = SquidPeer.user.password
    ) -> Proxy {
        let credentials = Proxy.Credentials(user: user, password: password)
        return switch way {
        case .http: .http(host: "localhost", port: squid.port, credentials: credentials)
        case .https:
            .https(
                host: "localhost",
                port: squid.securePort,
                policy: SecurityPolicy(
                    pinningMode: .certificate,
                    pinnedCertificates: [proxyCertificate],
                    allowInvalidCertificates: true
                ),
                credentials: credentials
            )
        }
    }

    private func manager(_ proxy: Proxy, _ policy: SecurityPolicy = .default) -> HTTPSessionManager {
        var configuration = HTTPSessionManager.Configuration(securityPolicy: policy)
        configuration.connection.proxy = proxy
        return HTTPSessionManager(configuration, transport: CurlTransport())
    }

    @Test(arguments: Way.allCases)
    private func `a request without TLS is passed on, its credentials for the proxy are not`(way: Way)
        async throws
    {
        let server = try TestServer { .json("\($0.bodyLength)") }
        let manager = manager(proxy(way))
        #expect(try await manager.get(server.url("/a?b=c")) == 0)
        #expect(try await manager.post(server.url("/a"), parameters: ["a": "b"]) == 3)
        #expect(server.requests.map(\.target) == ["/a?b=c", "/a"])
        #expect(server.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
        #expect(server.requests.allSatisfy { $0.headers.contains("Via") })
        let log = await squid.log(of: 2)
        #expect(log.count { $0.hasPrefix("200") && $0.hasSuffix(SquidPeer.user.name) } == 2)
    }

    @Test(arguments: Way.allCases)
    private func `a server behind a tunnel is judged by its own policy`(way: Way) async throws {
        let pinned = try PinnedServer { .json("\"\($0.path)\"") }
        #expect(try await manager(proxy(way), pinned.pinned).get(pinned.server.url("/right")) == "/right")
        let stranger = manager(proxy(way), try PinnedServer.strictAboutAnother(.certificate))
        let error = await requestError { _ = try await stranger.get(pinned.server.url("/wrong")) }
        #expect(error?.label == "untrusted_server")
        #expect(pinned.server.requests.map(\.path) == ["/right"])
        #expect(pinned.server.requests.first?.headers["Proxy-Authorization"] == nil)
        // It sees host and port alone.
        let log = await squid.log(of: 1)
        #expect(Set(log.map { $0.split(separator: " ")[2] }) == ["localhost:\(pinned.server.port)"])
    }

    @Test func `a proxy over HTTPS that its policy refuses gets no password`() async throws {
        let server = try TestServer { _ in .json("1") }
        var stranger = proxy(.https)
        stranger.kind = .https(.default)
        let error = await requestError { _ = try await manager(stranger).get(server.url()) }
        #expect(error?.label == "proxy_failed")
        #expect(server.counters.connections == 0)
        #expect(!squid.log.contains { $0.contains(SquidPeer.user.name) })
    }

    @Test(arguments: Way.allCases)
    private func `a wrong password is the proxy's failure for a tunnel, and a response without`(way: Way)
        async throws
    {
        let pinned = try PinnedServer()
        let plain = try TestServer { _ in .json("1") }
        let wrong = manager(proxy(way, password: "wrong"), pinned.pinned)
        #expect(await requestError { _ = try await wrong.get(pinned.server.url()) }?.label == "proxy_failed")
        let stranger = manager(proxy(way, user: "eve"))
        let error = await requestError { _ = try await stranger.get(plain.url()) }
        #expect(error?.response?.head.status == 407)
        #expect(pinned.server.counters.connections + plain.counters.connections == 0)
    }

    @Test(arguments: Way.allCases)
    private func `a password is proven with Digest, for a tunnel and without`(way: Way) async throws {
        let pinned = try PinnedServer { .json("\($0.bodyLength)") }
        let plain = try TestServer { .json("\($0.bodyLength)") }
        for password in [SquidPeer.user.password, "wrong"] {
            let schemes = Shared<[String]>([])
            var configuration = HTTPSessionManager.Configuration(securityPolicy: pinned.pinned)
            configuration.connection.proxy = proxy(way)
            configuration.connection.proxy.credentials = nil
            configuration.challengeHandler = { challenge in
                schemes.withLock { $0.append(challenge.scheme) }
                guard challenge.scheme == "digest", challenge.failureCount == 0 else {
                    return .performDefaultHandling
                }
                return .useCredential(Authentication(user: SquidPeer.user.name, password: password))
            }
            let manager = HTTPSessionManager(configuration, transport: CurlTransport())
            configuration.securityPolicy = .default
            let open = HTTPSessionManager(configuration, transport: CurlTransport())
            if password == "wrong" {
                let tunnel = await requestError { _ = try await manager.get(pinned.server.url()) }
                #expect(tunnel?.label == "proxy_failed")
                let refusal = await requestError { _ = try await open.get(plain.url()) }
                #expect(refusal?.response?.head.status == 407)
            } else {
                #expect(try await manager.post(pinned.server.url(), parameters: ["a": "b"]) == 3)
                #expect(try await open.post(plain.url(), parameters: ["a": "b"]) == 3)
            }
            #expect(schemes.value.contains("digest"))
        }
        for server in [pinned.server, plain] {
            #expect(server.requests.map(\.method) == ["POST"])
            #expect(server.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
        }
        #expect(squid.log.count { $0.hasPrefix("200") && $0.hasSuffix(SquidPeer.user.name) } == 2)
    }

    @Test(arguments: Way.allCases)
    private func `a server that is not there is the proxy's failure for a tunnel, and its 503 without`(
        way: Way
    ) async throws {
        let server = try TestServer { _ in .json("1") }
        let port = server.port
        server.stop()
        let manager = manager(proxy(way))
        let tunnel = await requestError { _ = try await manager.get("https://localhost:\(port)/") }
        #expect(tunnel?.label == "proxy_failed")
        let plain = await requestError { _ = try await manager.get("http://localhost:\(port)/") }
        #expect(plain?.response?.head.status == 503)
    }

    @Test(.enabled(if: NginxPeer.isInstalled, "nginx is not installed"), arguments: Way.allCases)
    private func `many requests multiplex over HTTP 2 through one tunnel`(way: Way) async throws {
        let nginx = try NginxPeer(.init(identity: .selfSigned(PinnedServer.certificateOptions)))
        let manager = manager(proxy(way), PinnedServer.lenient)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let text = try await manager.get(nginx.url("/\(number)"), as: .string)
                    #expect(text == "hello")
                }
            }
            try await group.waitForAll()
        }
        let entries = await nginx.entries(20)
        #expect(entries.count == 20)
        #expect(Set(entries.map(\.version)) == ["HTTP/2.0"])
        #expect(nginx.connections == 1)
    }
}
