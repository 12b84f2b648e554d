import COpenSSL
import FoundationEssentials
import SecurityPolicy

/// The forms in which certificates are written.
enum CertificateFileForm: String, CaseIterable {
    /// One certificate.
    case der
    /// One or many, as text.
    case pem
    /// Certificates without a signature (RFC 5652, section 5.2), DER.
    case p7b

    /// The form that a file's name speaks of.
    init?(path: String) {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        switch path[path.index(after: dot)...].lowercased() {
        case "cer", "der": self = .der
        case "crt", "pem": self = .pem
        case "p7b", "p7c": self = .p7b
        default: return nil
        }
    }

    func data(_ certificates: [Certificate]) throws(CommandFailure) -> Data {
        switch self {
        case .pem: return Data(certificates.map(\.pem).joined().utf8)
        case .p7b: return try Self.bundle(certificates)
        case .der:
            guard let only = certificates.first, certificates.count == 1 else {
                throw CommandFailure(
                    message: """
                        there are \(certificates.count) certificates, and a DER file holds one; choose with --index, \
                        or write .pem or .p7b
                        """
                )
            }
            return only.der
        }
    }

    private static func bundle(_ certificates: [Certificate]) throws(CommandFailure) -> Data {
        let failure = CommandFailure(message: "OpenSSL cannot make the PKCS#7")
        defer { ERR_clear_error() }
        guard let message = PKCS7_new() else { throw failure }
        defer { PKCS7_free(message) }
        // "Detached": without a content, as no signature speaks of one.
        guard PKCS7_set_type(message, NID_pkcs7_signed) == 1,
            PKCS7_content_new(message, NID_pkcs7_data) == 1,
            PKCS7_ctrl(message, PKCS7_OP_SET_DETACHED_SIGNATURE, 1, nil) == 1
        else { throw failure }
        for certificate in certificates {
            let x509 = OpenSSLBytes.decoded(certificate.der) { d2i_X509(nil, $0, $1) }
            defer { X509_free(x509) }
            guard let x509, PKCS7_add_certificate(message, x509) == 1 else { throw failure }
        }
        guard let der = OpenSSLBytes.encoded({ i2d_PKCS7(message, $0) }) else { throw failure }
        return der
    }
}
