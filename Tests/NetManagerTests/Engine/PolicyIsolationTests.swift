import HTTPMessage
import NetManager
import SecurityPolicy
import TestPKI
import TestServer
import Testing

/// No request rides on a connection, or resumes a TLS session, that another policy verified.
///
/// libcurl by itself lets it: both bypasses were seen.
@Suite struct PolicyIsolationTests {
    static let versions: [TLSVersion] = [.tls12, .tls13]

    private func isUntrusted(_ body: () async throws -> Void) async throws -> Bool {
        if case .untrustedServer = try await failure(body).kind { true } else { false }
    }

    @Test(arguments: versions, [SecurityPolicy.PinningMode.certificate, .publicKey])
    func `a strict policy never rides on a lenient policy's connection`(
        version: TLSVersion,
        mode: SecurityPolicy.PinningMode
    ) async throws {
        let pinned = try PinnedServer(version...version)
        let transport = CurlTransport()
        let url = pinned.server.url()
        _ = try await transport.fetch(url, policy: PinnedServer.lenient)
        _ = try await transport.fetch(url, policy: PinnedServer.lenient)
        let before = pinned.server.counters
        #expect(before.connections == 1)
        #expect(before.handshakes == 1)

        let strict = try PinnedServer.strictAboutAnother(mode)
        #expect(try await isUntrusted { _ = try await transport.fetch(url, policy: strict) })
        #expect(try await isUntrusted { _ = try await transport.fetch(url, policy: .default) })
        #expect(await pinned.server.until { $0.connections == 3 && $0.openConnections == 1 })
        let after = pinned.server.counters
        #expect(after.requestBytes == before.requestBytes)
        #expect(after.requests == before.requests)

        // The lenient connection is still there for lenient requests.
        _ = try await transport.fetch(url, policy: PinnedServer.lenient)
        #expect(pinned.server.counters.connections == 3)
    }

    @Test(arguments: versions)
    func `a TLS session is resumed inside one policy and never across two`(version: TLSVersion) async throws {
        let pinned = try PinnedServer(version...version)
        let transport = CurlTransport()
        let url = pinned.server.url()
        // Each request closes its connection, so that the next one has a session to resume.
        let close: HTTPHeaders = ["Connection": "close"]
        _ = try await transport.fetch(url, headers: close, policy: PinnedServer.lenient)
        _ = try await transport.fetch(url, headers: close, policy: PinnedServer.lenient)
        #expect(pinned.server.counters.handshakes == 2)
        #expect(pinned.server.counters.resumptions == 1)

        let strict = try PinnedServer.strictAboutAnother(.certificate)
        #expect(try await isUntrusted { _ = try await transport.fetch(url, headers: close, policy: strict) })
        #expect(pinned.server.counters.requests == 2)

        _ = try await transport.fetch(url, headers: close, policy: pinned.pinned)
        #expect(pinned.server.counters.resumptions == 1)
        _ = try await transport.fetch(url, headers: close, policy: pinned.pinned)
        #expect(pinned.server.counters.resumptions == 2)
    }

    @Test(arguments: versions)
    func `a resumed session is judged by all certificates of its first handshake`(
        version: TLSVersion
    ) async throws {
        let root = try Authority()
        let identity = try root.intermediate().issue(PinnedServer.certificateOptions)
        let tls = TLSOptions(identity: identity, minimum: version, maximum: version)
        let server = try TestServer(tls: tls) { _ in .json("{}") }
        let transport = CurlTransport()
        let close: HTTPHeaders = ["Connection": "close"]
        let anchor = try Certificate(der: root.certificate.der)
        let issuer = try Certificate(der: identity.intermediates[0].der)
        // Without the intermediate certificate there is no path, nor the pinned key.
        for policy in [
            SecurityPolicy(trustAnchors: .certificates([anchor])),
            SecurityPolicy(
                pinningMode: .publicKey,
                pinnedPublicKeys: [issuer.publicKeyPin],
                trustAnchors: .certificates([anchor])
            ),
        ] {
            let before = server.counters.resumptions
            for _ in 0..<4 {
                _ = try await transport.fetch(server.url(), headers: close, policy: policy)
            }
            #expect(server.counters.resumptions == before + 3)
        }
    }

    @Test(arguments: versions)
    func `equal policies share a connection`(version: TLSVersion) async throws {
        let pinned = try PinnedServer(version...version)
        let transport = CurlTransport()
        for _ in 0..<3 { _ = try await transport.fetch(pinned.server.url(), policy: pinned.pinned) }
        for _ in 0..<3 { _ = try await transport.fetch(pinned.server.url(), policy: pinned.pinnedKey) }
        #expect(pinned.server.counters.connections == 2)
        #expect(pinned.server.counters.handshakes == 2)
    }

    @Test(arguments: versions)
    func `report 33: a refused server sees no byte of the request`(version: TLSVersion) async throws {
        let pinned = try PinnedServer(version...version)
        let transport = CurlTransport()
        let strict = try PinnedServer.strictAboutAnother(.certificate)
        let error = try await failure {
            _ = try await transport.fetch(
                .post,
                pinned.server.url("/secret"),
                body: .data(.init("x".utf8)),
                policy: strict
            )
        }
        guard case .untrustedServer(.pinMismatch(let presented, let expected)) = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(presented == [pinned.certificate.publicKeyPin])
        #expect(expected.count == 1)
        #expect(await pinned.server.until { $0.connections == 1 && $0.openConnections == 0 })
        #expect(pinned.server.counters.requestBytes == 0)
    }

    @Test func `a policy without pins refuses a self-signed server`() async throws {
        let pinned = try PinnedServer()
        let error = try await failure { _ = try await CurlTransport().fetch(pinned.server.url()) }
        guard case .untrustedServer(.untrusted(let code, _)) = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(code == 18)  // X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT
    }

    @Test func `a pinned server is refused under another name`() async throws {
        let pinned = try PinnedServer()
        let error = try await failure {
            _ = try await CurlTransport().fetch(pinned.server.url(host: "127.0.0.1"), policy: pinned.pinned)
        }
        guard case .untrustedServer(.domainMismatch(let domain, _)) = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(domain == "127.0.0.1")
    }

    @Test func `a pinned policy is not used over http`() async throws {
        let server = try TestServer { _ in .json("{}") }
        let pinned = try PinnedServer()
        let error = try await failure {
            _ = try await CurlTransport().fetch(server.url(), policy: pinned.pinned)
        }
        guard case .invalidConfiguration = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(server.counters.connections == 0)
    }

    @Test func `a policy that can accept nobody is told before any traffic`() async throws {
        let pinned = try PinnedServer()
        let empty = SecurityPolicy(pinningMode: .certificate)
        let error = try await failure {
            _ = try await CurlTransport().fetch(pinned.server.url(), policy: empty)
        }
        guard case .untrustedServer(.noPinsConfigured) = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(pinned.server.counters.connections == 0)
    }
}
