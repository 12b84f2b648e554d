import COpenSSL
import FoundationEssentials
import Glibc

/// Turns options into a signed certificate.
struct CertificateBuilder {
    let options: CertificateOptions
    /// The public key that is certified, SubjectPublicKeyInfo.
    let publicKey: Data
    /// The issuer's certificate; nil for a self-signed one.
    let issuer: IssuedCertificate?
    let signingKey: PrivateKey

    func build() throws -> IssuedCertificate {
        let certificate = try X509_new().orThrow("allocate a certificate")
        defer { X509_free(certificate) }
        try check(X509_set_version(certificate, 2), "set the version")  // 2 is X.509 version 3
        try setSerial(of: certificate)
        try withTime(options.validity.notBefore) {
            try check(X509_set1_notBefore(certificate, $0), "set the first date")
        }
        try withTime(options.validity.notAfter) {
            try check(X509_set1_notAfter(certificate, $0), "set the last date")
        }
        let key = try decoded(publicKey, "read a public key") { d2i_PUBKEY(nil, $0, $1) }
        defer { EVP_PKEY_free(key) }
        try check(X509_set_pubkey(certificate, key), "set the public key")
        try withName(options.subject) { try check(X509_set_subject_name(certificate, $0), "set the subject") }
        if let issuer {
            try issuer.withOpenSSL { try finish(certificate, issuer: $0) }
        } else {
            try finish(certificate, issuer: certificate)
        }
        return IssuedCertificate(der: try encoded("encode a certificate") { i2d_X509(certificate, $0) })
    }

    private func finish(_ certificate: OpaquePointer, issuer: OpaquePointer) throws {
        if let forged = options.issuer {
            try withName(forged) { try check(X509_set_issuer_name(certificate, $0), "set the issuer") }
        } else {
            try check(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)), "set the issuer")
        }
        try addExtensions(to: certificate, issuer: issuer)
        try signingKey.withOpenSSL { key in
            try check(X509_sign(certificate, key, digest(options.digest, for: key)), "sign a certificate")
        }
    }

    private func setSerial(of certificate: OpaquePointer) throws {
        // The top bit stays clear: a serial number is positive, and 63 bits are unique enough.
        let serial = options.serial ?? UInt64.random(in: 1...UInt64(Int64.max))
        try check(
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial),
            "set the serial number"
        )
    }

    private func addExtensions(to certificate: OpaquePointer, issuer: OpaquePointer) throws {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        // The authority key identifier looks into the issuer; a self-signed certificate needs its own
        // subject key identifier before it.
        for (name, value) in extensionValues(leafUsage: leafUsage(of: certificate)) {
            let made = X509V3_EXT_nconf(nil, &context, name, value)
            guard let made else { throw PKIError("make the extension \(name)") }
            defer { X509_EXTENSION_free(made) }
            try check(X509_add_ext(certificate, made, -1), "add the extension \(name)")
        }
    }

    private func leafUsage(of certificate: OpaquePointer) -> [String] {
        // Only RSA keys can encipher a key (RFC 4055, section 1.2; RFC 5480, section 3).
        let isRSA = EVP_PKEY_get_base_id(X509_get0_pubkey(certificate)) == NID_rsaEncryption
        return isRSA ? ["digitalSignature", "keyEncipherment"] : ["digitalSignature"]
    }

    private func extensionValues(leafUsage: [String]) -> [(name: String, value: String)] {
        var values: [(name: String, value: String)] = []
        var isAuthority = false
        switch options.basicConstraints {
        case .omitted: break
        case .endEntity: values.append(("basicConstraints", "critical,CA:FALSE"))
        case .authority(let pathLength):
            isAuthority = true
            let limit = pathLength.map { ",pathlen:\($0)" } ?? ""
            values.append(("basicConstraints", "critical,CA:TRUE\(limit)"))
        }
        let usage = options.keyUsage ?? (isAuthority ? ["keyCertSign", "cRLSign"] : leafUsage)
        if !usage.isEmpty { values.append(("keyUsage", "critical," + usage.joined(separator: ","))) }
        let purposes = options.extendedKeyUsage
        if !purposes.isEmpty { values.append(("extendedKeyUsage", purposes.joined(separator: ","))) }
        switch options.subjectKeyIdentifier {
        case .automatic: values.append(("subjectKeyIdentifier", "hash"))
        case .bytes(let bytes): values.append(("subjectKeyIdentifier", bytes.hexadecimal))
        case .omitted: break
        }
        switch options.authorityKeyIdentifier {
        case .automatic: values.append(("authorityKeyIdentifier", "keyid"))
        case .bytes(let bytes):
            let der = derElement(tag: 0x30, derElement(tag: 0x80, bytes))
            values.append(("authorityKeyIdentifier", "DER:" + der.hexadecimal))
        case .omitted: break
        }
        if !options.names.isEmpty {
            // A subject without a name makes the extension critical (RFC 5280, section 4.2.1.6).
            let critical = options.subject == .init() ? "critical," : ""
            let der = derElement(tag: 0x30, options.names.reduce(Data()) { $0 + $1.der })
            values.append(("subjectAltName", critical + "DER:" + der.hexadecimal))
        }
        let constraints = options.nameConstraints
        if !constraints.isEmpty {
            values.append(("nameConstraints", "critical," + constraints.joined(separator: ",")))
        }
        if options.mustStaple { values.append(("tlsfeature", "status_request")) }
        return values + options.extensions
    }
}

/// The digest for a key: none for those that bring their own.
func digest(_ choice: CertificateOptions.Digest, for key: OpaquePointer) -> OpaquePointer? {
    guard EVP_PKEY_get_base_id(key) != NID_ED25519 else { return nil }
    return EVP_get_digestbyname(choice.rawValue)
}

/// Lends a distinguished name for the duration of a call.
func withName<Result>(
    _ subject: CertificateOptions.Subject,
    _ body: (OpaquePointer) throws -> Result
) throws -> Result {
    let name = try X509_NAME_new().orThrow("allocate a name")
    defer { X509_NAME_free(name) }
    for (field, text) in [("O", subject.organization), ("CN", subject.commonName)] {
        guard let text else { continue }
        let bytes = Array(text.utf8)
        try check(
            X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0),
            "add a name"
        )
    }
    return try body(name)
}

/// Lends a time for the duration of a call: UTCTime until 2049, GeneralizedTime after (RFC 5280, 4.1.2.5).
func withTime<Result>(
    _ date: Date,
    _ body: (UnsafeMutablePointer<ASN1_TIME>) throws -> Result
) throws -> Result {
    let seconds = time_t(date.timeIntervalSince1970.rounded(.down))
    let time = try ASN1_TIME_set(nil, seconds).orThrow("encode a date")
    defer { ASN1_TIME_free(time) }
    return try body(time)
}
