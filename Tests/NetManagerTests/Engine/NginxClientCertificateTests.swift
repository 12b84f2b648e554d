import FoundationEssentials
import NetManager
import TestPKI
import TestServer
import Testing

/// nginx with `ssl_verify_client on`: it finishes the handshake whatever it is shown, and refuses with a status.
@Suite(.enabled(if: NginxPeer.isInstalled, "nginx is not installed"))
struct NginxClientCertificateTests {
    private let clients: Authority
    private let client: Identity

    init() throws {
        clients = try Authority(commonName: "Client Root")
        client = try clients.issue(.client(commonName: "client"))
    }

    private func peer(_ version: String, http2: Bool) throws -> (NginxPeer, SecurityPolicy) {
        let identity = try Identity.selfSigned(
            .server(.dns("localhost")).with { $0.subject = .init(commonName: "localhost") }
        )
        let peer = try NginxPeer(
            NginxPeer.Options(identity: identity).with {
                $0.protocols = [version]
                $0.http2 = http2
                $0.clientAuthority = clients.certificate
            }
        )
        let policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try Certificate(der: identity.certificateDER)],
            allowInvalidCertificates: true
        )
        return (peer, policy)
    }

    private func get(_ peer: NginxPeer, _ policy: SecurityPolicy, _ identity: ClientIdentity?) async throws
        -> String
    {
        var configuration = HTTPSessionManager.Configuration(securityPolicy: policy)
        configuration.clientIdentity = identity
        let manager = HTTPSessionManager(configuration, transport: CurlTransport())
        return try await manager.get(peer.url(), as: .string)
    }

    @Test(arguments: ["TLSv1.2", "TLSv1.3"], [true, false])
    func `nginx lets an identity in, and its refusal of others says what is missing`(
        version: String,
        http2: Bool
    ) async throws {
        let (peer, policy) = try peer(version, http2: http2)
        #expect(try await get(peer, policy, client.asClient) == "hello")

        let missing = try await failure { _ = try await get(peer, policy, nil) }
        guard case .unacceptableStatus(400) = missing.kind else {
            Issue.record("\(missing)")
            return
        }
        #expect("\(missing)".contains("asked for a client certificate, which was not given"))

        let stranger = try Authority(commonName: "Stranger").issue(.client(commonName: "stranger"))
        let refused = try await failure { _ = try await get(peer, policy, stranger.asClient) }
        guard case .unacceptableStatus(400) = refused.kind else {
            Issue.record("\(refused)")
            return
        }
        #expect(!"\(refused)".contains("was not given"))

        let entries = await peer.entries(3)
        #expect(entries.map(\.status) == [200, 400, 400])
        #expect(entries.map(\.tls) == [version, version, version])
        #expect(entries.prefix(2).map(\.clientVerification) == ["SUCCESS", "NONE"])
        #expect(entries.last?.clientVerification.hasPrefix("FAILED") == true)
        #expect(peer.connections == 3)
    }

    @Test(arguments: ["TLSv1.2", "TLSv1.3"])
    func `two identities never share a connection or a session of nginx`(version: String) async throws {
        let (peer, policy) = try peer(version, http2: true)
        let other = try clients.issue(.client(commonName: "other"))
        let transport = CurlTransport()
        for _ in 0..<2 {
            for identity in [client, other] {
                _ = try await transport.fetch(peer.url(), policy: policy, identity: identity.asClient)
            }
        }
        let entries = await peer.entries(4)
        #expect(entries.count == 4)
        #expect(peer.connections == 2)
        #expect(entries.allSatisfy { !$0.isResumed && $0.clientVerification == "SUCCESS" })
    }
}
