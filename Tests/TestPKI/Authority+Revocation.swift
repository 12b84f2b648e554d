import COpenSSL
public import FoundationEssentials
import Glibc

extension Authority {
    /// What an OCSP response says of a certificate (RFC 6960, section 2.2).
    public enum OCSPStatus: Sendable, Hashable {
        /// Not revoked.
        case good
        /// Revoked at a date, for the reason “key compromise”.
        case revoked(Date)
        /// The responder does not know the certificate.
        case unknown
    }

    /// A list of revoked certificates (RFC 5280, section 5), signed by this authority.
    ///
    /// The certificates are ones that this authority issued: their numbers are listed. The validity gives the
    /// dates of this update and the next. The answer is DER; ``revocationListPEM(revoking:validity:)`` gives
    /// PEM.
    public func revocationList(
        revoking revoked: [IssuedCertificate],
        validity: CertificateOptions.Validity = .current
    ) throws -> Data {
        let list = try X509_CRL_new().orThrow("allocate a revocation list")
        defer { X509_CRL_free(list) }
        try check(X509_CRL_set_version(list, 1), "set the version")  // 1 is version 2, with extensions
        try withTime(validity.notBefore) { try check(X509_CRL_set1_lastUpdate(list, $0), "set a date") }
        try withTime(validity.notAfter) { try check(X509_CRL_set1_nextUpdate(list, $0), "set a date") }
        for entry in revoked { try revoke(entry, at: validity.notBefore, in: list) }
        try certificate.withOpenSSL { issuer in
            try check(X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer)), "set the issuer")
            var context = X509V3_CTX()
            X509V3_set_ctx(&context, issuer, nil, nil, list, 0)
            for (name, value) in [("authorityKeyIdentifier", "keyid"), ("crlNumber", "DER:020101")] {
                let made = try X509V3_EXT_nconf(nil, &context, name, value).orThrow("make \(name)")
                defer { X509_EXTENSION_free(made) }
                try check(X509_CRL_add_ext(list, made, -1), "add \(name)")
            }
        }
        try key.withOpenSSL { try check(X509_CRL_sign(list, $0, digest(.sha256, for: $0)), "sign a list") }
        return try encoded("encode a revocation list") { i2d_X509_CRL(list, $0) }
    }

    /// The same list, PEM.
    public func revocationListPEM(
        revoking revoked: [IssuedCertificate],
        validity: CertificateOptions.Validity = .current
    ) throws -> String {
        pem("X509 CRL", try revocationList(revoking: revoked, validity: validity))
    }

    private func revoke(_ entry: IssuedCertificate, at date: Date, in list: OpaquePointer) throws {
        let revoked = try X509_REVOKED_new().orThrow("allocate an entry")
        var added = false
        defer { if !added { X509_REVOKED_free(revoked) } }
        try entry.withOpenSSL {
            try check(
                X509_REVOKED_set_serialNumber(revoked, X509_get_serialNumber($0)),
                "set a serial number"
            )
        }
        try withTime(date) { try check(X509_REVOKED_set_revocationDate(revoked, $0), "set a date") }
        try check(X509_CRL_add0_revoked(list, revoked), "add an entry")
        added = true
    }

    /// An OCSP response for a certificate, as a server staples it.
    ///
    /// The leaf is named by this authority and its number; the validity gives the dates of this update and
    /// the next, which may be left out. The signer is this authority unless another is given, which makes a response that must be
    /// refused. The answer is the whole `OCSPResponse`, DER.
    public func ocspResponse(
        for leaf: IssuedCertificate,
        status: OCSPStatus = .good,
        validity: CertificateOptions.Validity = .current,
        namesNextUpdate: Bool = true,
        signer: Authority? = nil
    ) throws -> Data {
        let basic = try OCSP_BASICRESP_new().orThrow("allocate an OCSP response")
        defer { OCSP_BASICRESP_free(basic) }
        let identifier = try leaf.withOpenSSL { subject in
            try certificate.withOpenSSL { issuer in
                try OCSP_cert_to_id(nil, subject, issuer).orThrow("name a certificate")
            }
        }
        defer { OCSP_CERTID_free(identifier) }
        try add(status, of: identifier, validity, namesNextUpdate, to: basic)
        let signer = signer ?? self
        try signer.certificate.withOpenSSL { certificate in
            try signer.key.withOpenSSL { key in
                let digest = digest(.sha256, for: key)
                try check(OCSP_basic_sign(basic, certificate, key, digest, nil, 0), "sign an OCSP response")
            }
        }
        let response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
        let made = try response.orThrow("make an OCSP response")
        defer { OCSP_RESPONSE_free(made) }
        return try encoded("encode an OCSP response") { i2d_OCSP_RESPONSE(made, $0) }
    }

    private func add(
        _ status: OCSPStatus,
        of identifier: OpaquePointer,
        _ validity: CertificateOptions.Validity,
        _ namesNextUpdate: Bool,
        to basic: OpaquePointer
    ) throws {
        let (code, date): (Int32, Date?) =
            switch status {
            case .good: (V_OCSP_CERTSTATUS_GOOD, nil)
            case .revoked(let date): (V_OCSP_CERTSTATUS_REVOKED, date)
            case .unknown: (V_OCSP_CERTSTATUS_UNKNOWN, nil)
            }
        try withTime(validity.notBefore) { this in
            try withTime(validity.notAfter) { next in
                try withTime(date ?? validity.notBefore) { revoked in
                    let reason =
                        date == nil ? OCSP_REVOKED_STATUS_NOSTATUS : OCSP_REVOKED_STATUS_KEYCOMPROMISE
                    let when = date == nil ? nil : revoked
                    let end = namesNextUpdate ? next : nil
                    let added = OCSP_basic_add1_status(basic, identifier, code, reason, when, this, end)
                    guard added != nil else { throw PKIError("add a status") }
                }
            }
        }
    }
}
