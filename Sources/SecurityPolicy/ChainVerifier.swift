import COpenSSL
import COpenSSLShims
import FoundationEssentials

/// Searches one complete, valid path from a server's certificate to an anchor.
struct ChainVerifier {
    /// Why there is no such path.
    struct Failure: Error {
        /// The number of `X509_V_ERR_…`.
        let code: Int32
        /// The certificate at fault: 0 is the leaf.
        let depth: Int
        /// Its subject.
        let subject: String
        /// What is wrong, where OpenSSL has no words for it.
        var reason: String?
    }

    /// As sent, leaf first; not empty.
    let certificates: [Certificate]
    /// The host whose name constraints are checked, if names are.
    let host: HostName?
    /// The time to check at; nil is now.
    let date: Date?
    /// What is asked of every certificate of the path.
    let strictness: SecurityPolicy.Strictness
    /// Certificates between leaf and anchor, not counting those that an authority issued to itself.
    let maximumIntermediates: Int
    /// Lists that must cover the path; without any, nothing is checked.
    let revocationLists: [RevocationList]

    /// Certificates between leaf and anchor.
    private static let depth: Int32 = 8
    /// 112 bits, no SHA-1 and no MD5 signatures.
    private static let authLevel: Int32 = 2
    /// What no other path can mend.
    private static let faultsOfTheLeaf: Set<Int32> = [
        X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_INVALID_PURPOSE,
        X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION, X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CERT_REVOKED,
        X509_V_ERR_OUT_OF_MEM,
    ]

    /// Searches a path.
    ///
    /// OpenSSL's own choice is tried first, then every other path there is, within ``PathSearch``'s limits. Whatever
    /// is accepted was verified by OpenSSL as a whole.
    ///
    /// - Parameters:
    ///   - anchors: where a path may end.
    ///   - partial: whether it may end at an anchor that is not self-signed, as a pin may be.
    /// - Returns: the path, leaf first, anchor last.
    /// - Throws: the failure of the first attempt, which is the one that makes sense to people.
    func path(to anchors: AnchorStore, partial: Bool) throws(Failure) -> [Certificate] {
        defer { ERR_clear_error() }
        let first: Failure
        do {
            return try verify(certificates, to: anchors, partial: partial)
        } catch {
            first = error
        }
        if first.depth == 0, ChainVerifier.faultsOfTheLeaf.contains(first.code) { throw first }
        let candidates = PathSearch.candidates(
            certificates,
            to: anchors.certificates,
            partial: partial,
            depth: Int(ChainVerifier.depth)
        )
        for candidate in candidates {
            // The leaf may be the anchor itself.
            guard let end = candidate.last, let anchor = AnchorStore([end]) else { continue }
            let sent = candidate.count > 1 ? Array(candidate.dropLast()) : candidate
            if let path = try? verify(sent, to: anchor, partial: partial) { return path }
        }
        throw first
    }

    /// What is reported when OpenSSL cannot allocate.
    private var outOfMemory: Failure { Failure(code: X509_V_ERR_OUT_OF_MEM, depth: 0, subject: "") }

    /// One complete verification of one path that OpenSSL finds.
    private func verify(
        _ certificates: [Certificate],
        to anchors: AnchorStore,
        partial: Bool
    ) throws(Failure) -> [Certificate] {
        guard let leaf = certificates.first, let stack = nm_sk_x509_new() else { throw outOfMemory }
        defer { nm_sk_x509_free(stack) }
        for certificate in certificates.dropFirst() {
            guard nm_sk_x509_push(stack, certificate.record.x509) == 1 else { throw outOfMemory }
        }
        guard let context = X509_STORE_CTX_new() else { throw outOfMemory }
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, anchors.pointer, leaf.record.x509, stack) == 1,
            configure(X509_STORE_CTX_get0_param(context), partial: partial)
        else { throw outOfMemory }

        guard let lists = nm_sk_x509_crl_new() else { throw outOfMemory }
        defer { nm_sk_x509_crl_free(lists) }
        for list in revocationLists {
            guard nm_sk_x509_crl_push(lists, list.pointer) == 1 else { throw outOfMemory }
        }
        X509_STORE_CTX_set0_crls(context, lists)

        let verified = X509_verify_cert(context)
        let chain = X509_STORE_CTX_get0_chain(context)
        guard verified == 1 else {
            let depth = X509_STORE_CTX_get_error_depth(context)
            throw failure(X509_STORE_CTX_get_error(context), at: depth, of: chain)
        }
        // The rest is what OpenSSL does not do.
        for depth in 1..<max(1, nm_sk_x509_num(chain)) {
            guard let x509 = nm_sk_x509_value(chain, depth) else { continue }
            if KeyStrength.weakness(of: x509) != nil {
                throw failure(X509_V_ERR_CA_KEY_TOO_SMALL, at: depth, of: chain)
            }
            if let host, let code = NameConstraints.violation(by: host, of: x509) {
                throw failure(code, at: depth, of: chain)
            }
        }
        let path = (0..<nm_sk_x509_num(chain)).compactMap { index -> Certificate? in
            guard let x509 = nm_sk_x509_value(chain, index) else { return nil }
            return certificates.first { $0.record.x509 == x509 }
                ?? anchors.certificates.first { $0.record.x509 == x509 }
                ?? CertificateRecord(retaining: x509).map { Certificate(record: $0) }
        }
        let intermediates = path.dropFirst().dropLast().count {
            X509_get_extension_flags($0.record.x509) & UInt32(EXFLAG_SI) == 0
        }
        guard intermediates <= maximumIntermediates else {
            throw failure(X509_V_ERR_CERT_CHAIN_TOO_LONG, at: Int32(path.count - 1), of: chain)
        }
        if let (depth, reason) = NameConstraints.malformation(in: path) {
            throw Failure(
                code: X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
                depth: depth,
                subject: path[depth].subject,
                reason: reason
            )
        }
        if strictness == .webPKI, let rule = revocationLists.lazy.compactMap(WebPKIProfile.violation).first {
            throw Failure(code: X509_V_ERR_APPLICATION_VERIFICATION, depth: 0, subject: "", reason: rule)
        }
        if strictness == .webPKI, let (depth, rule) = WebPKIProfile.violation(in: path) {
            throw Failure(
                code: X509_V_ERR_APPLICATION_VERIFICATION,
                depth: depth,
                subject: path[depth].subject,
                reason: rule
            )
        }
        return path
    }

    private func configure(_ parameters: OpaquePointer?, partial: Bool) -> Bool {
        guard let parameters else { return false }
        guard X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER) == 1,
            X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_SERVER) == 1
        else { return false }
        X509_VERIFY_PARAM_set_auth_level(parameters, ChainVerifier.authLevel)
        X509_VERIFY_PARAM_set_depth(parameters, ChainVerifier.depth)
        // Without it name constraints would be applied to the common name.
        X509_VERIFY_PARAM_set_hostflags(parameters, HostName.matchFlags)
        var flags: Int32 = 0
        if partial { flags |= X509_V_FLAG_PARTIAL_CHAIN }
        if strictness == .webPKI { flags |= X509_V_FLAG_X509_STRICT }
        if !revocationLists.isEmpty {
            flags |= X509_V_FLAG_CRL_CHECK
            // A path to a pin ends below the root, whose list OpenSSL would demand nevertheless (openssl#30932).
            if !partial { flags |= X509_V_FLAG_CRL_CHECK_ALL }
        }
        guard X509_VERIFY_PARAM_set_flags(parameters, UInt(flags)) == 1 else { return false }
        if let date {
            // A date that no clock can show is pushed to the end of time, where nothing is valid.
            let seconds = Int(exactly: date.timeIntervalSince1970.rounded(.down))
            X509_VERIFY_PARAM_set_time(parameters, seconds ?? (date < .distantPast ? .min : .max))
        }
        return true
    }

    private func failure(_ code: Int32, at depth: Int32, of chain: OpaquePointer?) -> Failure {
        let faulty = nm_sk_x509_value(chain, depth)
        let subject = OpenSSLText.printed { bio in
            if let faulty { _ = nm_x509_name_print(bio, X509_get_subject_name(faulty)) }
        }
        return Failure(code: code, depth: Int(depth), subject: subject)
    }
}
