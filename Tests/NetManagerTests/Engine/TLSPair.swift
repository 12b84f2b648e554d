import COpenSSL
import SecurityPolicy
import Testing

@testable import NetManager
@testable import TestServer

/// A client under a policy and a server, connected in memory.
final class TLSPair {
    private let client: OpaquePointer
    private let server: OpaquePointer
    private let context: OpaquePointer
    let verification: TLSVerification
    private(set) var isConnected = false

    /// Does a handshake, with a written session if there is one, which may carry something else than what was kept.
    init(
        _ serverContext: TLSContext,
        _ policy: SecurityPolicy,
        session: [UInt8]?,
        keeping: [UInt8]? = nil,
        host: String = "localhost",
        verdicts: VerdictMemory? = nil
    ) throws {
        context = try #require(SSL_CTX_new(TLS_client_method()))
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_CLIENT), nil)
        verification = TLSVerification(policy: policy, policyID: policy.policyID, host: host)
        verification.verdicts = verdicts
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
