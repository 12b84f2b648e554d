import COpenSSL
public import FoundationEssentials

/// A certificate as a value: its bytes.
public struct IssuedCertificate: Sendable, Hashable {
    /// The certificate, DER.
    public let der: Data

    /// Takes bytes as they are; a broken certificate is legal here.
    public init(der: Data) {
        self.der = der
    }

    /// The certificate, PEM.
    public var pem: String { TestPKI.pem("CERTIFICATE", der) }

    /// The public key as SubjectPublicKeyInfo, DER: what key pins are made of.
    public var publicKeyDER: Data {
        get throws {
            try withOpenSSL { certificate in
                try encoded("encode a public key") { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) }
            }
        }
    }

    /// The SHA-256 digest of ``publicKeyDER``, 32 bytes.
    public var publicKeySHA256: Data {
        get throws { try sha256(publicKeyDER) }
    }

    /// The key identifier of the subject; nil when the certificate has none.
    public var subjectKeyIdentifier: Data? {
        get throws {
            try withOpenSSL { certificate in
                guard let identifier = X509_get0_subject_key_id(certificate) else { return nil }
                return Data(
                    bytes: ASN1_STRING_get0_data(identifier),
                    count: Int(ASN1_STRING_length(identifier))
                )
            }
        }
    }

    /// The serial number as its bytes, most significant first.
    public var serial: Data {
        get throws {
            try withOpenSSL { certificate in
                let number = try X509_get0_serialNumber(certificate).orThrow("read a serial number")
                return Data(bytes: ASN1_STRING_get0_data(number), count: Int(ASN1_STRING_length(number)))
            }
        }
    }

    /// The certificate with its last byte changed: it parses, its signature is wrong.
    public var withBrokenSignature: Self {
        var bytes = der
        if let last = bytes.popLast() { bytes.append(last ^ 1) }
        return Self(der: bytes)
    }

    /// Lends the certificate as OpenSSL's `X509`, for the duration of the call.
    func withOpenSSL<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        let certificate = try decoded(der, "read a certificate") { d2i_X509(nil, $0, $1) }
        defer { X509_free(certificate) }
        return try body(certificate)
    }
}
