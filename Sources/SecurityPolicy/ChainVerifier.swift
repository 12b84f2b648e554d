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
    }

    /// As sent, leaf first; not empty.
    let certificates: [Certificate]
    /// The host whose name constraints are checked, if names are.
    let host: HostName?
    /// The time to check at; nil is now.
    let date: Date?

    /// OpenSSL tries one path and does not go back, so a certificate that led into a dead end is taken away and the
    /// search starts again; eight times are enough for every cross-signed chain in use and bound the cost.
    private static let attempts = 8
    /// Certificates between leaf and anchor.
    private static let depth: Int32 = 8
    /// 112 bits, no SHA-1 and no MD5 signatures.
    private static let authLevel: Int32 = 2

    /// Searches a path.
    ///
    /// - Parameters:
    ///   - anchors: where a path may end.
    ///   - partial: whether it may end at an anchor that is not self-signed, as a pin may be.
    /// - Returns: the path, leaf first, anchor last.
    /// - Throws: the failure of the first attempt, which is the one that makes sense to people.
    func path(to anchors: AnchorStore, partial: Bool) throws(Failure) -> [Certificate] {
        defer { ERR_clear_error() }
        guard let leaf = certificates.first else { throw outOfMemory }
        var intermediates = Array(certificates.dropFirst())
        var first: Failure?
        for _ in 0..<ChainVerifier.attempts {
            switch attempt(leaf: leaf, intermediates: intermediates, anchors: anchors, partial: partial) {
            case .path(let path):
                return path
            case .deadEnd(let failure, let culprit):
                first = first ?? failure
                // Only what the server sent can be left out; an anchor or the leaf stays at fault.
                let rest = intermediates.filter { $0 != culprit }
                guard culprit != leaf, rest.count < intermediates.count else { throw first ?? failure }
                intermediates = rest
            }
        }
        throw first ?? outOfMemory
    }

    private enum Outcome {
        case path([Certificate])
        case deadEnd(Failure, culprit: Certificate?)
    }

    /// What is reported when OpenSSL cannot allocate.
    private var outOfMemory: Failure { Failure(code: X509_V_ERR_OUT_OF_MEM, depth: 0, subject: "") }

    private func attempt(
        leaf: Certificate,
        intermediates: [Certificate],
        anchors: AnchorStore,
        partial: Bool
    ) -> Outcome {
        guard let stack = nm_sk_x509_new() else { return .deadEnd(outOfMemory, culprit: nil) }
        defer { nm_sk_x509_free(stack) }
        for certificate in intermediates {
            guard nm_sk_x509_push(stack, certificate.record.x509) == 1 else {
                return .deadEnd(outOfMemory, culprit: nil)
            }
        }
        guard let context = X509_STORE_CTX_new() else { return .deadEnd(outOfMemory, culprit: nil) }
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, anchors.pointer, leaf.record.x509, stack) == 1,
            configure(X509_STORE_CTX_get0_param(context), partial: partial)
        else { return .deadEnd(outOfMemory, culprit: nil) }

        let verified = X509_verify_cert(context)
        let chain = X509_STORE_CTX_get0_chain(context)
        guard verified == 1 else {
            return deadEnd(
                code: X509_STORE_CTX_get_error(context),
                depth: X509_STORE_CTX_get_error_depth(context),
                chain: chain
            )
        }
        // The rest is what OpenSSL does not do.
        for depth in 0..<nm_sk_x509_num(chain) {
            guard let x509 = nm_sk_x509_value(chain, depth) else { continue }
            if depth > 0, KeyStrength.weakness(of: x509) != nil {
                return deadEnd(code: X509_V_ERR_CA_KEY_TOO_SMALL, depth: depth, chain: chain)
            }
            if depth > 0, let host, let code = NameConstraints.violation(by: host, of: x509) {
                return deadEnd(code: code, depth: depth, chain: chain)
            }
        }
        return .path(certificates(of: chain, known: [leaf] + intermediates))
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
        if partial {
            guard X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1 else {
                return false
            }
        }
        if let date {
            // A date that no clock can show is pushed to the end of time, where nothing is valid.
            let seconds = Int(exactly: date.timeIntervalSince1970.rounded(.down))
            X509_VERIFY_PARAM_set_time(parameters, seconds ?? (date < .distantPast ? .min : .max))
        }
        return true
    }

    /// The failure, and the certificate without which another attempt makes sense.
    private func deadEnd(code: Int32, depth: Int32, chain: OpaquePointer?) -> Outcome {
        let faulty = nm_sk_x509_value(chain, depth)
        let subject = OpenSSLText.printed { bio in
            if let faulty { _ = nm_x509_name_print(bio, X509_get_subject_name(faulty)) }
        }
        let failure = Failure(code: code, depth: Int(depth), subject: subject)
        // A signature that does not verify may be the fault of an issuer that has only the right name.
        let issuer = code == X509_V_ERR_CERT_SIGNATURE_FAILURE ? nm_sk_x509_value(chain, depth + 1) : nil
        let culprit = issuer.flatMap(sentCertificate) ?? faulty.flatMap(sentCertificate)
        return .deadEnd(failure, culprit: culprit)
    }

    private func sentCertificate(_ x509: OpaquePointer) -> Certificate? {
        certificates.first { $0.record.x509 == x509 }
    }

    private func certificates(of chain: OpaquePointer?, known: [Certificate]) -> [Certificate] {
        (0..<nm_sk_x509_num(chain)).compactMap { index -> Certificate? in
            guard let x509 = nm_sk_x509_value(chain, index) else { return nil }
            return known.first { $0.record.x509 == x509 }
                ?? CertificateRecord(retaining: x509).map { Certificate(record: $0) }
        }
    }
}
