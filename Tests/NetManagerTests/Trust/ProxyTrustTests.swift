import FoundationEssentials
import HTTPMessage
import NetManager
import SecurityPolicy
import TestPKI
import TestServer
import Testing

/// A server behind a proxy that speaks TLS itself: two certificates, two policies, one host name.
@Suite struct ProxyTrustTests {
    /// Server and proxy, each with an authority of its own, both for `localhost`.
    private struct Way {
        let server: TestServer
        let proxy: ProxyPeer
        let serverRoot: Certificate
        let proxyRoot: Certificate

        init(_ version: TLSVersion, isServerSecure: Bool = true) throws {
            let (roots, identities) = try Self.identities()
            let tls = identities.map { TLSOptions(identity: $0, minimum: version, maximum: version) }
            server = try TestServer(tls: isServerSecure ? tls[0] : nil) { .json("\"\($0.path)\"") }
            proxy = try ProxyPeer(.https(tls[1]))
            serverRoot = roots[0]
            proxyRoot = roots[1]
        }

        private static func identities() throws -> ([Certificate], [Identity]) {
            let authorities = try ["Server Root", "Proxy Root"].map { try Authority(commonName: $0) }
            return (
                try authorities.map { try Certificate(der: $0.certificate.der) },
                try authorities.map { try $0.issue(.server("localhost")) }
            )
        }

        /// Asks the server through the proxy.
        func fetch(
            _ policy: SecurityPolicy,
            proxy proxyPolicy: SecurityPolicy,
            on transport: CurlTransport = CurlTransport(),
            exceptions: [String] = []
        ) async throws -> HTTPResponse {
            var context = TransportContext(policy: policy, deadline: .now + .seconds(30))
            context.connection.proxy = .https(host: "localhost", port: proxy.port, policy: proxyPolicy)
            context.connection.proxy.exceptions = exceptions
            let url = try #require(URL(string: server.url("/inside")))
            let response = try await transport.send(HTTPRequest(url: url), context: context)
            return HTTPResponse(head: response.head, body: try await response.body.collect())
        }
    }

    private static func trusting(_ root: Certificate) -> SecurityPolicy {
        SecurityPolicy(trustAnchors: .certificates([root]))
    }

    private static func pinning(_ root: Certificate, _ mode: SecurityPolicy.PinningMode) -> SecurityPolicy {
        SecurityPolicy(pinningMode: mode, pinnedCertificates: [root], allowInvalidCertificates: true)
    }

    @Test(arguments: PolicyIsolationTests.versions)
    func `a server behind a proxy over TLS is reached when each passes its own policy`(version: TLSVersion)
        async throws
    {
        let way = try Way(version)
        let transport = CurlTransport()
        for _ in 0..<2 {
            let response = try await way.fetch(
                Self.trusting(way.serverRoot),
                proxy: Self.trusting(way.proxyRoot),
                on: transport
            )
            #expect(String(decoding: response.body, as: UTF8.self) == "\"/inside\"")
        }
        #expect(way.proxy.passages.map(\.host) == ["localhost"])
        #expect(way.proxy.counters.handshakes == 1)
        #expect(way.server.counters.handshakes == 1)
        #expect(way.server.counters.requests == 2)
    }

    @Test(arguments: PolicyIsolationTests.versions)
    func `a proxy that its policy refuses is told as such and hears nothing`(version: TLSVersion) async throws
    {
        let way = try Way(version)
        // Even the server's own policy, and even one that would let any server pass, has no say about the proxy.
        for policy in [Self.trusting(way.serverRoot), PinnedServer.lenient] {
            let error = try await failure {
                _ = try await way.fetch(policy, proxy: Self.trusting(way.serverRoot))
            }
            guard case .proxyFailed = error.kind else {
                Issue.record("\(error)")
                continue
            }
            #expect(error.detail?.contains("the proxy is not trusted") == true)
        }
        #expect(await way.proxy.until { $0.failedHandshakes == 2 })
        #expect(way.proxy.counters.requestBytes == 0)
        #expect(way.proxy.passages.isEmpty)
        #expect(way.server.counters.connections == 0)
    }

    @Test(arguments: PolicyIsolationTests.versions)
    func `a server that its policy refuses is no fault of a good proxy`(version: TLSVersion) async throws {
        let way = try Way(version)
        for policy in [PinnedServer.lenient, Self.trusting(way.proxyRoot)] {
            let error = try await failure {
                _ = try await way.fetch(Self.trusting(way.proxyRoot), proxy: policy)
            }
            guard case .untrustedServer(.untrusted) = error.kind else {
                Issue.record("\(error)")
                continue
            }
        }
        #expect(await way.server.until { $0.failedHandshakes == 2 })
        #expect(way.server.counters.requestBytes == 0)
        #expect(way.proxy.passages.count == 2)
    }

    @Test(arguments: PolicyIsolationTests.versions, [SecurityPolicy.PinningMode.certificate, .publicKey])
    func `pins of the server never accept the proxy, nor the other way round`(
        version: TLSVersion,
        mode: SecurityPolicy.PinningMode
    ) async throws {
        let way = try Way(version)
        let transport = CurlTransport()
        let (server, proxy) = (Self.pinning(way.serverRoot, mode), Self.pinning(way.proxyRoot, mode))
        _ = try await way.fetch(server, proxy: proxy, on: transport)
        // On the same transport, where good connections and sessions of both wait to be used again.
        let swapped = try await failure { _ = try await way.fetch(proxy, proxy: server, on: transport) }
        guard case .proxyFailed = swapped.kind else {
            Issue.record("\(swapped)")
            return
        }
        let same = try await failure { _ = try await way.fetch(proxy, proxy: proxy, on: transport) }
        guard case .untrustedServer(.pinMismatch) = same.kind else {
            Issue.record("\(same)")
            return
        }
        #expect(way.server.counters.requests == 1)
        #expect(way.proxy.passages.count == 2)
    }

    @Test(arguments: PolicyIsolationTests.versions)
    func `a request without TLS is not given to a proxy that is refused`(version: TLSVersion) async throws {
        let way = try Way(version, isServerSecure: false)
        let transport = CurlTransport()
        _ = try await way.fetch(.default, proxy: PinnedServer.lenient, on: transport)
        #expect(way.proxy.passages.map(\.means) == [.forward])
        // The lenient connection and its session are there; the strict policy uses neither.
        let error = try await failure {
            _ = try await way.fetch(.default, proxy: Self.trusting(way.serverRoot), on: transport)
        }
        guard case .proxyFailed = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(way.server.counters.requests == 1)
    }

    @Test(arguments: PolicyIsolationTests.versions)
    func `a host that is excepted from a proxy over TLS is judged by its own policy`(version: TLSVersion)
        async throws
    {
        let way = try Way(version)
        let (own, other) = (Self.trusting(way.serverRoot), Self.trusting(way.proxyRoot))
        _ = try await way.fetch(own, proxy: other, exceptions: ["localhost"])
        let error = try await failure {
            _ = try await way.fetch(other, proxy: own, exceptions: ["localhost"])
        }
        guard case .untrustedServer = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(way.proxy.counters.connections == 0)
        #expect(way.server.counters.requests == 1)
    }

    @Test func `a proxy that speaks no TLS is the proxy's failure`() async throws {
        let way = try Way(.tls13)
        let plain = try TestServer { _ in .json("{}") }
        var context = TransportContext(policy: Self.trusting(way.serverRoot), deadline: .now + .seconds(30))
        context.connection.proxy = .https(host: "localhost", port: plain.port, policy: .default)
        let request = HTTPRequest(url: try #require(URL(string: way.server.url())))
        let error = try await failure { _ = try await CurlTransport().send(request, context: context) }
        guard case .proxyFailed = error.kind else {
            Issue.record("\(error)")
            return
        }
    }
}
