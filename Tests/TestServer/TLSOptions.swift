public import FoundationEssentials
public import TestPKI

/// The TLS side of a ``TestServer``.
public struct TLSOptions: Sendable {
    /// What the server presents.
    public var identity: Identity
    /// The oldest version that is spoken.
    public var minimum: TLSVersion
    /// The newest version that is spoken.
    public var maximum: TLSVersion
    /// The protocols that ALPN may choose, best first; empty ignores the extension.
    public var applicationProtocols = ["http/1.1"]
    /// Whether and how a client may resume a session.
    public var resumption = Resumption.tickets
    /// Whether a client must show a certificate.
    public var clientCertificates = ClientCertificates.notAsked
    /// A whole OCSP response that is stapled for those who ask (RFC 6066, section 8).
    public var stapledOCSPResponse: Data?
    /// Cipher suites up to TLS 1.2 in OpenSSL's syntax; nil leaves the choice to OpenSSL.
    public var cipherSuites: String?

    /// Makes options for an identity; TLS 1.2 and 1.3 unless said otherwise.
    public init(identity: Identity, minimum: TLSVersion = .tls12, maximum: TLSVersion = .tls13) {
        self.identity = identity
        self.minimum = minimum
        self.maximum = maximum
    }

    /// A copy with changes.
    public func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }

    /// How sessions are resumed.
    public enum Resumption: Sendable, Hashable {
        /// By tickets (RFC 5077 and RFC 8446).
        case tickets
        /// From the server's memory: session ids up to TLS 1.2, opaque tickets in TLS 1.3.
        case sessionCache
        /// Not at all.
        case refused
    }

    /// What is asked of a client.
    public enum ClientCertificates: Sendable, Hashable {
        /// Nothing.
        case notAsked
        /// A certificate may be shown; one that does not verify fails the handshake.
        case optional(anchors: [IssuedCertificate])
        /// A certificate must be shown and verify.
        case required(anchors: [IssuedCertificate])
    }
}

/// A version of TLS.
public enum TLSVersion: Int32, Sendable, Hashable, Comparable {
    /// TLS 1.0, which clients refuse.
    case tls10 = 0x0301
    /// TLS 1.1, which clients refuse.
    case tls11 = 0x0302
    /// TLS 1.2.
    case tls12 = 0x0303
    /// TLS 1.3.
    case tls13 = 0x0304

    /// Older versions are less.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
