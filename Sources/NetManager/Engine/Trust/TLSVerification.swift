import COpenSSL
import COpenSSLShims
import FoundationEssentials
import SecurityPolicy

/// What a TLS connection is verified with, tied to its SSL_CTX: it lives as long as that, which may be longer than
/// the transfer that opened the connection.
final class TLSVerification {
    let policy: SecurityPolicy
    let policyID: String
    let host: String
    typealias Verdict = Result<TrustDecision, TrustError>
    /// What the policy said in the last handshake; nil before.
    private(set) var verdict: Verdict?
    /// What the server showed when it was refused; nil when it was not, or showed nothing that can be read.
    private(set) var refusedTrust: ServerTrust?
    /// Told of a refusal, and of what a policy under audit or an overruled one would have refused: whether the server
    /// was let through.
    var onRefusal: (@Sendable (TrustError, ServerTrust, Bool) -> Void)?
    /// Where the program's hook is asked; nil when there is none.
    var desk: ChallengeDesk?
    /// What the hook must be asked, when the last handshake was refused because it has not been.
    var question: ServerTrustQuestion?
    /// What was accepted before; nil where everything is evaluated.
    var verdicts: VerdictMemory?
    /// The socket of the connection, where it carries many requests at a time and leads to an https proxy; nil before
    /// the first request.
    var layeredSocket: Int32?
    /// The request under way on the connection, where that carries one at a time; it is named as long as it is.
    var user: Transfer?
    /// What the server wanted of the client, and how it took the answer.
    var clientCertificate = ClientCertificateExchange()

    init(policy: SecurityPolicy, policyID: String, host: String) {
        self.policy = policy
        self.policyID = policyID
        self.host = host
    }

    /// Makes a fresh SSL_CTX ask the policy, and nothing but the policy.
    /// - Returns: False when OpenSSL refuses; the connection must not be made then.
    func install(on sslContext: UnsafeMutableRawPointer) -> Bool {
        let context = OpaquePointer(sslContext)
        let retained = Unmanaged.passRetained(self)
        guard SSL_CTX_set_ex_data(context, Self.contextIndex, retained.toOpaque()) == 1 else {
            retained.release()
            return false
        }
        SSL_CTX_set_cert_verify_callback(context, Self.verifyCallback, retained.toOpaque())
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        // SSL_OP_NO_RENEGOTIATION: a connection keeps the certificate that was verified (the macro is bit 30).
        SSL_CTX_set_options(context, 1 << 30)
        ClientCertificateExchange.watch(context)
        if policy.stapledOCSP != .off { askForStapledResponse(context, retained.toOpaque()) }
        return true
    }

    /// Why the policy refused in the last handshake; nil when it did not.
    var refusal: TrustError? {
        if case .failure(let error) = verdict { error } else { nil }
    }

    /// The version and cipher suite of a connection, in OpenSSL's words.
    static func description(of ssl: OpaquePointer) -> (version: String, cipherSuite: String) {
        let version = SSL_get_version(ssl).map { String(cString: $0) }
        let suite = SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) }
        return (version ?? "unknown", suite ?? "unknown")
    }

    /// Whether HTTP/2 was agreed on (ALPN, RFC 7301).
    static func multiplexes(_ ssl: OpaquePointer) -> Bool {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        guard let name, count == 2 else { return false }
        return name[0] == UInt8(ascii: "h") && name[1] == UInt8(ascii: "2")
    }

    /// The verification of the connection that a transfer is about to use; nil when it has none.
    static func current(of ssl: OpaquePointer) -> TLSVerification? {
        guard let context = SSL_get_SSL_CTX(ssl), let stored = SSL_CTX_get_ex_data(context, contextIndex)
        else {
            return nil
        }
        return Unmanaged<TLSVerification>.fromOpaque(stored).takeUnretainedValue()
    }

    /// Verifies the connection again when its handshake did not: a resumed session sends no certificates.
    func ensureVerified(_ ssl: OpaquePointer) -> Result<Void, TrustError> {
        if SSL_get_ex_data(ssl, Self.verifiedIndex) != nil { return .success(()) }
        return judge(ssl)
    }

    /// Evaluates the whole policy over what a connection has received: certificates and stapled response.
    func judge(_ ssl: OpaquePointer) -> Result<Void, TrustError> {
        let verdict = evaluate(
            SessionChain.certificates(of: ssl),
            under: policy,
            stapled: Self.stapledResponse(of: ssl),
            isResumed: SSL_session_reused(ssl) == 1
        )
        self.verdict = verdict
        if case .success = verdict { Self.markVerified(ssl) }
        return verdict.map { _ in }
    }

    private func evaluate(
        _ chain: [[UInt8]],
        under policy: SecurityPolicy,
        stapled: Data? = nil,
        isResumed: Bool = false
    ) -> Verdict {
        refusedTrust = nil
        question = nil
        let trust: ServerTrust
        do throws(TrustError) {
            trust = ServerTrust(
                certificates: try ParsedChains.trust(chain).certificates,
                stapledOCSPResponse: stapled
            )
        } catch {
            return .failure(error)
        }
        // Before the stapled response is looked at, an acceptance is no last word: it is evaluated once more.
        let isLast = policy.stapledOCSP == self.policy.stapledOCSP
        let verdict = Verdict { () throws(TrustError) in
            try decision(about: trust, under: policy, isResumed: isResumed)
        }
        if case .success = verdict, !isLast { return verdict }
        let answered = answered(verdict, trust)
        switch answered {
        case .success(let decision):
            if isLast, let error = decision.auditedError { onRefusal?(error, trust, true) }
        case .failure(let error):
            refusedTrust = trust
            if question == nil { onRefusal?(error, trust, false) }
        }
        return answered
    }

    /// Evaluates, except where a resumed session puts a question that was answered a moment ago.
    private func decision(
        about trust: ServerTrust,
        under policy: SecurityPolicy,
        isResumed: Bool
    ) throws(TrustError) -> TrustDecision {
        // The name is that of the whole policy; without its stapled response it is another one.
        guard let verdicts, self.policy.stapledOCSP == .off else {
            return try policy.evaluate(trust, forDomain: host)
        }
        let moment = VerdictMemory.Moment.now
        let subject = VerdictMemory.Subject(policyID: policyID, host: host, chain: trust.certificates)
        if isResumed, let known = verdicts.decision(for: subject, at: moment) { return known }
        let decision = try policy.evaluate(trust, forDomain: host)
        verdicts.remember(decision, of: policy, about: trust, subject, since: moment)
        return decision
    }

    // MARK: In the handshake

    /// Called by OpenSSL in place of its own verification.
    private static let verifyCallback: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = {
        store,
        context in
        guard let store, let context else { return 0 }
        return Unmanaged<TLSVerification>.fromOpaque(context).takeUnretainedValue().verify(store)
    }

    private func verify(_ store: OpaquePointer) -> Int32 {
        var chain = Self.certificates(X509_STORE_CTX_get0_untrusted(store))
        if chain.isEmpty, let leaf = X509_STORE_CTX_get0_cert(store).flatMap(Self.der) { chain = [leaf] }
        // TLS 1.2 sends the stapled response behind the certificates: then it is judged in a moment, with them.
        let verdict = evaluate(chain, under: policyWithoutStapling)
        self.verdict = verdict
        // libcurl reads the oldest entry of the queue and would report what OpenSSL tried on the way.
        ERR_clear_error()
        switch verdict {
        case .success:
            X509_STORE_CTX_set_error(store, X509_V_OK)
            if let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()) {
                SessionChain.keep(chain.dropFirst(), in: OpaquePointer(ssl))
                if policy.stapledOCSP == .off { Self.markVerified(OpaquePointer(ssl)) }
            }
            return 1
        case .failure(let error):
            X509_STORE_CTX_set_error(store, Self.code(of: error))
            return 0
        }
    }

    /// The code that OpenSSL turns into the alert for the server.
    private static func code(of error: TrustError) -> Int32 {
        switch error {
        case .untrusted(let code, _) where code != 0: Int32(clamping: code)
        case .domainMismatch: X509_V_ERR_HOSTNAME_MISMATCH
        case .revoked: X509_V_ERR_CERT_REVOKED
        default: X509_V_ERR_APPLICATION_VERIFICATION
        }
    }

    static func certificates(_ stack: OpaquePointer?) -> [[UInt8]] {
        (0..<nm_sk_x509_num(stack)).compactMap { nm_sk_x509_value(stack, $0).flatMap(der) }
    }

    static func der(_ certificate: OpaquePointer) -> [UInt8]? {
        let count = i2d_X509(certificate, nil)
        guard count > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { bytes, written in
            var cursor = bytes.baseAddress
            written = Int(max(0, i2d_X509(certificate, &cursor)))
        }
    }

    // MARK: Where it is kept

    private static func markVerified(_ ssl: OpaquePointer) {
        // Any pointer but null says yes; it is never followed.
        SSL_set_ex_data(ssl, verifiedIndex, UnsafeMutableRawPointer(bitPattern: 1))
    }

    /// Of the SSL_CTX: the verification, released with it.
    private static let contextIndex = CRYPTO_get_ex_new_index(
        CRYPTO_EX_INDEX_SSL_CTX,
        0,
        nil,
        nil,
        nil,
        { _, stored, _, _, _, _ in
            if let stored { Unmanaged<TLSVerification>.fromOpaque(stored).release() }
        }
    )

    /// Of the SSL: set when its own handshake, or a later look, was verified.
    private static let verifiedIndex = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, nil, nil, nil, nil)
}
