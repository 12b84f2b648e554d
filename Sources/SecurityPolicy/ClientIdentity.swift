import COpenSSL
import COpenSSLShims
public import FoundationEssentials

/// A certificate chain and its private key, which a client shows to servers that ask for them (mutual TLS).
///
/// A value: copies share the key, which is held in memory once, is overwritten when the last copy goes, and is never
/// part of any text. Two identities are equal when chain and key are.
public struct ClientIdentity: Sendable {
    /// The certificates as they are sent: the one of the key first, then its issuers.
    public let certificates: [Certificate]
    /// SHA-256 over chain and key, in hexadecimal digits.
    ///
    /// Connections and TLS sessions of different identities must never be shared; this tells them apart.
    package let identityID: String
    /// PKCS#8, PEM.
    private let privateKey: ClientIdentitySecret

    /// The certificates as PEM, in their order.
    package var certificatePEM: [UInt8] { certificates.flatMap { Array($0.pem.utf8) } }

    /// Lends the private key as unencrypted PKCS#8, PEM.
    ///
    /// The bytes stay where they are as long as any copy of the identity lives.
    package func withPrivateKeyPEM<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(privateKey.bytes)
    }

    /// Takes over a chain and a key that belong together.
    init(certificates: [Certificate], privateKeyDER: ClientIdentitySecret) throws(ClientIdentityError) {
        self.certificates = certificates
        identityID = ClientIdentity.digest(certificates, privateKeyDER)
        guard let pem = ClientIdentity.pem(privateKeyDER) else {
            throw .malformed(reason: "its private key cannot be written as PEM")
        }
        privateKey = pem
    }

    /// Says whether the certificate may be used at a time.
    ///
    /// Only its own dates count, not those of its issuers, for which the server may have others. The manager asks this
    /// before each request, so that an expired certificate is told here and not by an alert of the server.
    /// - Parameter date: The time, now by default.
    /// - Throws: ``ClientIdentityError/expired(subject:notAfter:)`` or
    ///   ``ClientIdentityError/notYetValid(subject:notBefore:)``.
    public func check(at date: Date = .now) throws(ClientIdentityError) {
        guard let leaf = certificates.first else { throw .noCertificate }
        let (notBefore, notAfter) = (leaf.notBefore, leaf.notAfter)
        guard notBefore <= date else { throw .notYetValid(subject: leaf.subject, notBefore: notBefore) }
        // In the second of notAfter itself OpenSSL, and so most servers, refuses the certificate already.
        guard date < notAfter else { throw .expired(subject: leaf.subject, notAfter: notAfter) }
    }

    private static func digest(_ certificates: [Certificate], _ key: ClientIdentitySecret) -> String {
        // Every part is of a known length, so no two identities make the same input.
        let parts = certificates.map(\.record.fingerprint) + [OpenSSLText.sha256(key.bytes)]
        let input = parts.flatMap { $0 }
        return OpenSSLText.hex(input.withUnsafeBytes { OpenSSLText.sha256($0) })
    }

    private static func pem(_ key: ClientIdentitySecret) -> ClientIdentitySecret? {
        // OpenSSL overwrites the buffer of a memory BIO when it frees it.
        guard let bio = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(bio) }
        let bytes = key.bytes.bindMemory(to: UInt8.self)
        guard PEM_write_bio(bio, "PRIVATE KEY", "", bytes.baseAddress, bytes.count) > 0 else { return nil }
        var start: UnsafePointer<CChar>?
        let count = nm_bio_mem_data(bio, &start)
        guard let start, count > 0 else { return nil }
        return ClientIdentitySecret(copying: UnsafeRawBufferPointer(start: start, count: count))
    }
}

extension ClientIdentity: Hashable {
    /// Whether chain and key are the same.
    public static func == (left: ClientIdentity, right: ClientIdentity) -> Bool {
        left.privateKey === right.privateKey || left.identityID == right.identityID
    }

    /// Feeds a digest of chain and key.
    public func hash(into hasher: inout Hasher) { hasher.combine(identityID) }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Subject, expiry and key pin of the certificate, for logs; nothing of the private key.
    public var description: String { certificates.first.map { "\($0)" } ?? "no certificate" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The certificates; nothing of the private key.
    public var customMirror: Mirror { Mirror(self, children: ["certificates": certificates]) }
}
