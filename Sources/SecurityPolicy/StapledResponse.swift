import COpenSSL
import COpenSSLShims
import FoundationEssentials

/// Judges the OCSP response that a server stapled to its handshake (RFC 6960, RFC 6066, 8).
struct StapledResponse {
    /// The certificate in question.
    let leaf: Certificate
    /// Who issued it, and must have signed the response or authorized its signer.
    let issuer: Certificate
    /// The time to check at; nil is now.
    let date: Date?

    /// Clocks of responders may be this many seconds ahead or behind.
    private static let leeway: Double = 300
    /// How many seconds a response counts that does not say when the next one comes.
    ///
    /// Its responder has newer ones at any time (RFC 6960, section 4.2.2.1), so an old one shows nothing; without an end a
    /// server could show the same one for ever.
    private static let openEnd: Double = 86_400
    /// 112 bits, as for certificates.
    private static let authLevel: Int32 = 2

    /// Why a response does not show that the certificate is good; nil if it does.
    func problem(with response: Data) -> String? {
        defer { ERR_clear_error() }
        let parsed = response.withUnsafeBytes { bytes -> OpaquePointer? in
            var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return d2i_OCSP_RESPONSE(nil, &cursor, bytes.count)
        }
        guard let parsed else { return "the stapled OCSP response is malformed" }
        defer { OCSP_RESPONSE_free(parsed) }
        guard OCSP_response_status(parsed) == OCSP_RESPONSE_STATUS_SUCCESSFUL,
            let basic = OCSP_response_get1_basic(parsed)
        else { return "the stapled OCSP response says that the responder failed" }
        defer { OCSP_BASICRESP_free(basic) }
        guard isSigned(basic) else {
            return "the stapled OCSP response is not signed by the certificate's issuer"
        }
        return status(in: basic)
    }

    private func isSigned(_ basic: OpaquePointer) -> Bool {
        guard let store = X509_STORE_new() else { return false }
        defer { X509_STORE_free(store) }
        guard let parameters = X509_STORE_get0_param(store), let others = nm_sk_x509_new() else {
            return false
        }
        defer { nm_sk_x509_free(others) }
        guard X509_STORE_add_cert(store, issuer.record.x509) == 1,
            nm_sk_x509_push(others, issuer.record.x509) == 1,
            X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1
        else { return false }
        X509_VERIFY_PARAM_set_auth_level(parameters, StapledResponse.authLevel)
        if let date, let seconds = Int(exactly: date.timeIntervalSince1970.rounded(.down)) {
            X509_VERIFY_PARAM_set_time(parameters, seconds)
        }
        return OCSP_basic_verify(basic, others, store, 0) == 1
    }

    private func status(in basic: OpaquePointer) -> String? {
        var status: Int32 = -1
        var reason: Int32 = -1
        var revoked: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        // A responder names certificates by hashes of its choice; SHA-1 is the usual one.
        let isFound = [EVP_sha1(), EVP_sha256()].contains { digest in
            guard let name = OCSP_cert_to_id(digest, leaf.record.x509, issuer.record.x509) else {
                return false
            }
            defer { OCSP_CERTID_free(name) }
            return OCSP_resp_find_status(basic, name, &status, &reason, &revoked, &this, &next) == 1
        }
        guard isFound else { return "the stapled OCSP response is about another certificate" }
        if let problem = problem(from: this, to: next) { return problem }
        switch status {
        case V_OCSP_CERTSTATUS_GOOD: return nil
        case V_OCSP_CERTSTATUS_REVOKED:
            let why = reason >= 0 ? OCSP_crl_reason_str(Int(reason)).map { " (\(String(cString: $0)))" } : nil
            return "the stapled OCSP response says that the certificate is revoked\(why ?? "")"
        default: return "the OCSP responder does not know the certificate"
        }
    }

    /// Why a response is not one for this time; nil if it is.
    private func problem(
        from this: UnsafePointer<ASN1_GENERALIZEDTIME>?,
        to next: UnsafePointer<ASN1_GENERALIZEDTIME>?
    ) -> String? {
        let now = date ?? .now
        let unreadable = "the stapled OCSP response has a date that cannot be read"
        guard let start = OpenSSLText.date(this) else { return unreadable }
        guard start <= now.addingTimeInterval(StapledResponse.leeway) else {
            return "the stapled OCSP response is from the future"
        }
        guard let next else {
            return start >= now.addingTimeInterval(-StapledResponse.openEnd - StapledResponse.leeway)
                ? nil : "the stapled OCSP response gives no time of the next one and is older than a day"
        }
        guard let end = OpenSSLText.date(next) else { return unreadable }
        return end >= now.addingTimeInterval(-StapledResponse.leeway)
            ? nil : "the stapled OCSP response has expired"
    }
}

extension Certificate {
    /// Whether the certificate demands that a good OCSP response is stapled (RFC 7633).
    var demandsStapledResponse: Bool {
        let index = X509_get_ext_by_NID(record.x509, NID_tlsfeature, -1)
        guard index >= 0, let value = X509_EXTENSION_get_data(X509_get_ext(record.x509, index)) else {
            return false
        }
        let bytes = UnsafeBufferPointer(
            start: ASN1_STRING_get0_data(value),
            count: Int(ASN1_STRING_length(value))
        )
        // A sequence of small integers; status_request is 5.
        return Array(bytes).firstRange(of: [0x02, 0x01, 0x05]) != nil
    }

    /// Whether this certificate's key signed the other one.
    func isIssuer(of other: Certificate) -> Bool {
        defer { ERR_clear_error() }
        return X509_check_issued(record.x509, other.record.x509) == X509_V_OK
            && X509_verify(other.record.x509, X509_get0_pubkey(record.x509)) == 1
    }
}
