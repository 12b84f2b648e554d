import COpenSSL
import COpenSSLShims
public import FoundationEssentials

/// The SHA-256 of a public key: what is pinned when a certificate may be renewed but its key stays.
///
/// The digest is over the DER of the SubjectPublicKeyInfo (RFC 5280, 4.1.2.7), as in RFC 7469 and curl. It is
/// written `sha256/BASE64`.
public struct PublicKeyPin: Sendable {
    /// The digest, 32 bytes.
    public let digest: Data

    /// Where the pin was seen, for texts about it only: two pins are equal when their digests are.
    package var sighting: Sighting?

    /// Whose key it is, and of which host the chain was.
    package struct Sighting: Sendable {
        /// The certificate's subject, RFC 4514.
        package var subject: String
        /// The end of the certificate's validity.
        package var notAfter: Date
        /// The host that was asked for, if one was.
        package var host: String?
    }

    /// Takes a digest that was computed elsewhere.
    ///
    /// - Parameter digest: SHA-256 of the SubjectPublicKeyInfo; nil is returned unless it has 32 bytes.
    public init?(digest: Data) {
        guard digest.count == 32 else { return nil }
        self.digest = Data(digest)
    }

    /// The pin of a parsed certificate's key; nil if it cannot be encoded.
    init?(keyOf x509: OpaquePointer) {
        var buffer: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x509), &buffer)
        guard count > 0, let buffer else { return nil }
        defer { nm_openssl_free(buffer) }
        digest = Data(OpenSSLText.sha256(UnsafeRawBufferPointer(start: buffer, count: Int(count))))
    }
}

extension PublicKeyPin: Hashable {
    /// Two pins are equal when their digests are.
    public static func == (left: PublicKeyPin, right: PublicKeyPin) -> Bool { left.digest == right.digest }

    /// Feeds the digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

extension PublicKeyPin: LosslessStringConvertible {
    /// `sha256/` and the digest in base64: the line to paste into a configuration.
    public var description: String { "sha256/" + digest.base64EncodedString() }

    /// Reads a pin as tools print it.
    ///
    /// - Parameter description: `sha256/BASE64`, `sha256//BASE64` (curl), plain base64, or 64 hexadecimal digits,
    ///   white space around it ignored. Anything else, also another digest, gives nil.
    public init?(_ description: String) {
        var text = description[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        if text.hasPrefix("sha256/") {
            text.removeFirst(7)
            // A slash is also a base64 digit: only the length tells "sha256//" from a pin that begins with one.
            if text.utf8.count == 45, text.hasPrefix("/") { text.removeFirst() }
        } else if let bytes = PublicKeyPin.bytes(hexadecimal: text) {
            self.init(digest: bytes)
            return
        }
        // 32 bytes are 43 base64 digits and one "="; anything longer or shorter is another digest.
        guard text.utf8.count == 44, let bytes = Data(base64Encoded: String(text)) else { return nil }
        self.init(digest: bytes)
    }

    private static func bytes(hexadecimal text: Substring) -> Data? {
        guard text.utf8.count == 64 else { return nil }
        var bytes = Data()
        var high: Int?
        for character in text {
            guard character.isASCII, let digit = character.hexDigitValue else { return nil }
            if let first = high {
                bytes.append(UInt8(first << 4 | digit))
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}

extension PublicKeyPin: Codable {
    /// Reads the text form.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for anything that is not a SHA-256 pin.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let pin = PublicKeyPin(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "Not a public key pin: expected sha256/ and 32 bytes in base64."
            )
        }
        self = pin
    }

    /// Writes the text form.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
