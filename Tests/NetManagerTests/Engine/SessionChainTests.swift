import COpenSSL
import SecurityPolicy
import TestPKI
import Testing

@testable import NetManager
@testable import TestServer

/// Sessions as libcurl keeps them since 8.12: written down by OpenSSL and read again, which loses the chain.
@Suite struct SessionChainTests {
    static let versions: [TLSVersion] = [.tls12, .tls13]

    private let root: Authority
    private let intermediate: Authority
    private let identity: Identity

    init() throws {
        root = try Authority()
        intermediate = try root.intermediate()
        identity = try intermediate.issue(
            .server(.dns("localhost")).with { $0.subject = .init(commonName: "localhost") }
        )
    }

    private func policy(
        _ authority: Authority,
        pinning pins: Set<PublicKeyPin> = []
    ) throws -> SecurityPolicy {
        SecurityPolicy(
            pinningMode: pins.isEmpty ? .none : .publicKey,
            pinnedPublicKeys: pins,
            trustAnchors: .certificates([try Certificate(der: authority.certificate.der)])
        )
    }

    private func pin(_ certificate: IssuedCertificate) throws -> PublicKeyPin {
        try Certificate(der: certificate.der).publicKeyPin
    }

    private func server(_ version: TLSVersion) throws -> TLSContext {
        let options = TLSOptions(identity: identity, minimum: version, maximum: version)
        return try TLSContext(options, ticketKeys: (0..<80).map { UInt8($0) })
    }

    /// The session of a first handshake under this policy, written down.
    private func writtenSession(_ server: TLSContext, _ policy: SecurityPolicy) throws -> [UInt8] {
        let first = try TLSPair(server, policy, session: nil)
        #expect(first.isConnected)
        #expect(!first.isResumed)
        return try first.session()
    }

    @Test(arguments: versions)
    func `a session that was written down is judged by the whole chain of its first handshake`(
        version: TLSVersion
    ) throws {
        let server = try server(version)
        let trusting = try policy(root)
        let session = try writtenSession(server, trusting)

        let second = try TLSPair(server, trusting, session: session)
        try #require(second.isConnected && second.isResumed)
        #expect(second.sentChain.isEmpty, "OpenSSL brings the chain back itself")
        #expect(second.chain == identity.chain.map { [UInt8]($0.der) })
        #expect(second.isTrusted)

        // And once more, as a resumed connection gets tickets of its own.
        let third = try TLSPair(server, trusting, session: try second.session())
        try #require(third.isConnected && third.isResumed)
        #expect(third.isTrusted)
    }

    @Test(arguments: versions)
    func `what is kept with a session makes no other policy trust it`(version: TLSVersion) throws {
        let server = try server(version)
        let session = try writtenSession(server, try policy(root))
        let pinningIssuer = try policy(root, pinning: [pin(intermediate.certificate)])
        let pinningOther = try policy(root, pinning: [pin(try Authority().certificate)])
        for (policy, isTrusted) in [
            (pinningIssuer, true), (pinningOther, false), (try policy(try Authority()), false),
        ] {
            let resumed = try TLSPair(server, policy, session: session)
            try #require(resumed.isConnected && resumed.isResumed)
            #expect(resumed.isTrusted == isTrusted)
        }
    }

    @Test(arguments: versions)
    func `a session without what was kept is refused, and so is one with something else`(
        version: TLSVersion
    ) throws {
        let server = try server(version)
        let trusting = try policy(root)
        let session = try writtenSession(server, trusting)
        let other = try Authority().intermediate().issue(.server(.dns("localhost")))
        for kept in [
            [], [1, 2, 3], [255, 255, 255, 255, 0], [0, 0, 0, 0], [UInt8](other.certificate.der),
        ] as [[UInt8]] {
            let resumed = try TLSPair(server, trusting, session: session, keeping: kept)
            try #require(resumed.isConnected && resumed.isResumed)
            #expect(!resumed.isTrusted)
        }
    }
}

/// A client under a policy and a server, connected in memory.
private final class TLSPair {
    private let client: OpaquePointer
    private let server: OpaquePointer
    private let context: OpaquePointer
    private let verification: TLSVerification
    private(set) var isConnected = false

    /// Does a handshake, with a written session if there is one, which may carry something else than what was kept.
    init(
        _ serverContext: TLSContext,
        _ policy: SecurityPolicy,
        session: [UInt8]?,
        keeping: [UInt8]? = nil
    ) throws {
        context = try #require(SSL_CTX_new(TLS_client_method()))
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_CLIENT), nil)
        verification = TLSVerification(policy: policy, policyID: policy.policyID, host: "localhost")
        try #require(verification.install(on: UnsafeMutableRawPointer(context)))
        client = try #require(SSL_new(context))
        server = try #require(SSL_new(serverContext.pointer))
        var ends: (OpaquePointer?, OpaquePointer?) = (nil, nil)
        try #require(BIO_new_bio_pair(&ends.0, 1 << 17, &ends.1, 1 << 17) == 1)
        SSL_set_bio(client, ends.0, ends.0)
        SSL_set_bio(server, ends.1, ends.1)
        SSL_set_connect_state(client)
        SSL_set_accept_state(server)
        if let session { try use(session, keeping: keeping) }
        for _ in 0..<10 where !isConnected {
            let results = [SSL_do_handshake(client), SSL_do_handshake(server)]
            isConnected = results == [1, 1]
        }
        guard isConnected else { return }
        // TLS 1.3 sends tickets after the handshake; they come before the first byte.
        var byte: UInt8 = 1
        try #require(SSL_write(server, &byte, 1) == 1)
        try #require(SSL_read(client, &byte, 1) == 1)
    }

    deinit {
        // Without a goodbye OpenSSL takes the session for a bad one.
        SSL_shutdown(client)
        SSL_free(client)
        SSL_free(server)
        SSL_CTX_free(context)
        ERR_clear_error()
    }

    private func use(_ bytes: [UInt8], keeping: [UInt8]?) throws {
        let session = bytes.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var cursor = bytes.baseAddress
            return d2i_SSL_SESSION(nil, &cursor, bytes.count)
        }
        let read = try #require(session)
        defer { SSL_SESSION_free(read) }
        if let keeping { try #require(SSL_SESSION_set1_ticket_appdata(read, keeping, keeping.count) == 1) }
        try #require(SSL_set_session(client, read) == 1)
    }

    var isResumed: Bool { SSL_session_reused(client) == 1 }

    var sentChain: [[UInt8]] { TLSVerification.certificates(SSL_get_peer_cert_chain(client)) }

    var chain: [[UInt8]] { SessionChain.certificates(of: client) }

    var isTrusted: Bool {
        if case .success = verification.ensureVerified(client) { true } else { false }
    }

    /// The session as OpenSSL writes it.
    func session() throws -> [UInt8] {
        let session = try #require(SSL_get1_session(client))
        defer { SSL_SESSION_free(session) }
        let count = i2d_SSL_SESSION(session, nil)
        try #require(count > 0)
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { bytes, written in
            var cursor = bytes.baseAddress
            written = Int(max(0, i2d_SSL_SESSION(session, &cursor)))
        }
    }
}
