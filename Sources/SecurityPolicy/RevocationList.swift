import COpenSSL
import COpenSSLShims
public import FoundationEssentials

/// A list of revoked certificates (RFC 5280, 5) as a value, identified by its DER bytes.
public struct RevocationList: Sendable {
    /// The list as it was given.
    public let der: Data
    private let object: OpenSSLObject
    private let fingerprint: [UInt8]

    /// OpenSSL's parsed form; read only, valid as long as this value lives.
    var pointer: OpaquePointer { object.pointer }

    /// Parses one list.
    ///
    /// - Parameter der: exactly one list in DER, with nothing behind it.
    /// - Throws: ``CertificateError/malformed(reason:)`` for anything else.
    public init(der: Data) throws(CertificateError) {
        OpenSSLLibrary.prepare()
        let parsed = der.withUnsafeBytes { bytes -> OpenSSLObject? in
            var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let start = cursor
            guard let start, let list = d2i_X509_CRL(nil, &cursor, bytes.count) else { return nil }
            let object = OpenSSLObject(revocationList: list)
            return cursor.map { $0 - start } == bytes.count ? object : nil
        }
        guard let parsed else {
            let parserSays = OpenSSLText.lastError()
            throw .malformed(
                reason: "these \(der.count) bytes are not exactly one DER revocation list (\(parserSays))"
            )
        }
        object = parsed
        self.der = der
        fingerprint = der.withUnsafeBytes { OpenSSLText.sha256($0) }
    }

    /// Reads every list in some bytes.
    ///
    /// - Parameter data: DER (one list) or PEM (one or many).
    /// - Returns: the lists in their order, at least one.
    /// - Throws: ``CertificateError/malformed(reason:)`` if anything in it is not a revocation list.
    public static func lists(in data: Data) throws(CertificateError) -> [RevocationList] {
        guard CertificateReader.isPEM(data) else { return [try RevocationList(der: data)] }
        var found: [RevocationList] = []
        for (label, contents) in try CertificateReader.blocks(in: data) {
            guard label == "X509 CRL" else {
                throw .malformed(reason: "a \(OpenSSLText.printable(label.utf8)) is no revocation list")
            }
            found.append(try RevocationList(der: contents))
        }
        return found
    }

    /// Reads a file.
    ///
    /// - Parameter path: a regular file of at most 16 MiB in any form that ``lists(in:)`` reads.
    /// - Returns: the lists in their order, at least one.
    /// - Throws: ``CertificateError/unreadable(path:reason:)``, or ``CertificateError/malformed(reason:)`` with
    ///   the path in its reason.
    public static func load(contentsOf path: String) throws(CertificateError) -> [RevocationList] {
        let data = try Certificate.contents(of: path)
        do {
            return try lists(in: data)
        } catch .malformed(let reason) {
            throw .malformed(reason: "\(path): \(reason)")
        }
    }

    /// The name of the authority that issued the list, RFC 4514.
    public var issuer: String {
        OpenSSLText.printed { _ = nm_x509_name_print($0, X509_CRL_get_issuer(pointer)) }
    }

    /// When a newer list is due; nil if the list does not say.
    public var nextUpdate: Date? { OpenSSLText.date(X509_CRL_get0_nextUpdate(pointer)) }

    /// SHA-256 of the DER in hex.
    var fingerprintText: String { OpenSSLText.hex(fingerprint) }
}

extension RevocationList: Hashable {
    /// Two lists are equal when their DER bytes are.
    public static func == (left: RevocationList, right: RevocationList) -> Bool { left.der == right.der }

    /// Feeds the fingerprint.
    public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}

extension RevocationList: Codable {
    /// Reads base64 DER.
    ///
    /// - Throws: `DecodingError.dataCorrupted` unless it is exactly one list.
    public init(from decoder: any Decoder) throws {
        self = try DERCoding.decode(from: decoder, "A revocation list") { try RevocationList(der: $0) }
    }

    /// Writes base64 DER.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try DERCoding.encode(der, to: encoder)
    }
}

extension Set<RevocationList> {
    /// A fixed order, so that equal sets are written equally.
    var sortedByFingerprint: [RevocationList] { sorted { $0.fingerprintText < $1.fingerprintText } }
}
