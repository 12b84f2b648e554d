import COpenSSL
import COpenSSLShims
import FoundationEssentials

/// What is behind a `Certificate`: parsed once, shared by every copy.
final class CertificateRecord: Sendable {
    /// The certificate exactly as it was given.
    let der: Data
    /// SHA-256 of `der`.
    let fingerprint: [UInt8]
    /// SHA-256 of the SubjectPublicKeyInfo.
    let publicKeyPin: PublicKeyPin
    private let object: OpenSSLObject

    /// OpenSSL's parsed form; read only, valid as long as this record lives.
    var x509: OpaquePointer { object.pointer }

    /// Parses exactly one certificate; nil if the bytes are anything else or more than that.
    init?(parsing bytes: UnsafeRawBufferPointer) {
        OpenSSLLibrary.prepare()
        var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let start = cursor
        guard let start, let x509 = d2i_X509(nil, &cursor, bytes.count) else { return nil }
        let object = OpenSSLObject(certificate: x509)
        guard let end = cursor, end - start == bytes.count else { return nil }
        guard let pin = PublicKeyPin(keyOf: x509) else { return nil }
        der = Data(bytes)
        fingerprint = OpenSSLText.sha256(bytes)
        publicKeyPin = pin
        self.object = object
    }

    /// A further reference to a certificate that OpenSSL already holds; nil if it cannot be encoded.
    init?(retaining x509: OpaquePointer) {
        var buffer: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(x509, &buffer)
        guard count > 0, let buffer else { return nil }
        defer { nm_openssl_free(buffer) }
        guard let pin = PublicKeyPin(keyOf: x509), X509_up_ref(x509) == 1 else { return nil }
        let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
        der = Data(bytes)
        fingerprint = OpenSSLText.sha256(bytes)
        publicKeyPin = pin
        object = OpenSSLObject(certificate: x509)
    }
}
