import COpenSSL
import COpenSSLShims
public import FoundationEssentials

/// An X.509 certificate as a value, identified by its DER bytes.
///
/// It is parsed once, when it is made; copies share the parsed form. It may be used on any thread.
public struct Certificate: Sendable {
    let record: CertificateRecord

    /// Parses one certificate.
    ///
    /// - Parameter der: exactly one certificate in DER (RFC 5280, 4.1), with nothing behind it. For PEM and for
    ///   files see ``certificates(in:)`` and ``load(contentsOf:)``.
    /// - Throws: ``CertificateError/malformed(reason:)`` for anything else.
    public init(der: Data) throws(CertificateError) {
        guard let record = der.withUnsafeBytes({ CertificateRecord(parsing: $0) }) else {
            let parserSays = OpenSSLText.lastError()
            throw .malformed(
                reason: "these \(der.count) bytes are not exactly one DER certificate (\(parserSays))"
            )
        }
        self.record = record
    }

    init(record: CertificateRecord) { self.record = record }

    /// The certificate as it was given.
    public var der: Data { record.der }

    /// The certificate in PEM, with a line break at the end (RFC 7468).
    public var pem: String {
        let text = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    }

    /// SHA-256 of the SubjectPublicKeyInfo.
    public var publicKeyPin: PublicKeyPin { record.publicKeyPin }

    /// SHA-256 of the DER, 32 bytes: what browsers show as the certificate's fingerprint.
    public var fingerprint: Data { Data(record.fingerprint) }

    /// The subject in RFC 4514 form, most specific part first.
    ///
    /// An example is `CN=api.example.com,O=Example`.
    public var subject: String {
        OpenSSLText.printed { _ = nm_x509_name_print($0, X509_get_subject_name(record.x509)) }
    }

    /// The issuer in RFC 4514 form.
    public var issuer: String {
        OpenSSLText.printed { _ = nm_x509_name_print($0, X509_get_issuer_name(record.x509)) }
    }

    /// The serial number in upper-case hexadecimal digits, two a byte.
    public var serialNumber: String {
        guard let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(record.x509), nil) else { return "" }
        defer { BN_free(number) }
        guard let digits = BN_bn2hex(number) else { return "" }
        defer { nm_openssl_free(digits) }
        return String(cString: digits)
    }

    /// The first second in which the certificate is valid; the distant future if it has no readable start.
    public var notBefore: Date { OpenSSLText.date(X509_get0_notBefore(record.x509)) ?? .distantFuture }

    /// The end of validity; the distant past if it has no readable one.
    public var notAfter: Date { OpenSSLText.date(X509_get0_notAfter(record.x509)) ?? .distantPast }

    /// The dNSName entries of the subject alternative name, in their order.
    ///
    /// A byte that does not belong into a name, such as NUL, is written as `\x00`; such a name matches no host.
    public var dnsNames: [String] {
        alternativeNames(ofType: GEN_DNS).map { OpenSSLText.printable($0) }
    }

    /// The iPAddress entries of the subject alternative name as text (IPv6 as in RFC 5952).
    public var ipAddresses: [String] {
        alternativeNames(ofType: GEN_IPADD).compactMap { IPAddress($0)?.description }
    }

    /// Whether subject and issuer are the same and the certificate's own key verifies its signature.
    public var isSelfSigned: Bool {
        defer { ERR_clear_error() }
        return X509_self_signed(record.x509, 1) == 1
    }

    /// Whether basic constraints say CA.
    ///
    /// A version 1 certificate without extensions is not one.
    public var isCertificateAuthority: Bool {
        X509_get_extension_flags(record.x509) & UInt32(EXFLAG_CA) != 0
    }

    private func alternativeNames(ofType type: Int32) -> [[UInt8]] {
        guard let raw = X509_get_ext_d2i(record.x509, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(raw)
        defer { GENERAL_NAMES_free(names) }
        var found: [[UInt8]] = []
        for index in 0..<nm_general_names_num(names) {
            var bytes: UnsafePointer<UInt8>?
            var count: Int32 = 0
            guard nm_general_name_at(names, index, &bytes, &count) == type else { continue }
            found.append([UInt8](UnsafeBufferPointer(start: bytes, count: Int(count))))
        }
        return found
    }
}

extension Certificate: Hashable {
    /// Two certificates are equal when their DER bytes are.
    public static func == (left: Certificate, right: Certificate) -> Bool {
        left.record === right.record || left.record.der == right.record.der
    }

    /// Feeds the fingerprint.
    public func hash(into hasher: inout Hasher) { hasher.combine(record.fingerprint) }
}

extension Certificate: CustomStringConvertible {
    /// Subject, expiry and key pin, for logs.
    public var description: String {
        "\(subject) (until \(notAfter.formatted(.iso8601)), \(publicKeyPin))"
    }
}

extension Certificate: Codable {
    /// Reads base64 DER.
    ///
    /// - Throws: `DecodingError.dataCorrupted` unless it is exactly one certificate.
    public init(from decoder: any Decoder) throws {
        self = try DERCoding.decode(from: decoder, "A certificate") { try Certificate(der: $0) }
    }

    /// Writes base64 DER.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try DERCoding.encode(der, to: encoder)
    }
}
