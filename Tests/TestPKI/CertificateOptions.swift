public import FoundationEssentials

/// Everything that can be said about a certificate before it is signed.
///
/// Begin with ``server(_:)``, ``client(commonName:)`` or ``authority(commonName:pathLength:)`` and change
/// what the test is about:
/// `.server("api.test").with { $0.validity = .expired }`.
public struct CertificateOptions: Sendable {
    /// The names of the subject; by default none, which is legal when there are alternative names.
    public var subject = Subject()
    /// The issuer's name if it shall differ from the name of the signing authority: a forgery.
    public var issuer: Subject?
    /// The subject alternative names in order; empty leaves the extension out.
    public var names: [AlternativeName] = []
    /// From when until when.
    public var validity = Validity.current
    /// A new key of a kind, or one that exists.
    public var key = Key.new(.p256)
    /// Whether the certificate is an authority's.
    public var basicConstraints = BasicConstraints.endEntity
    /// Key usages by OpenSSL's names, as `digitalSignature`.
    ///
    /// Nil gives what the kind of certificate needs, an empty list leaves the extension out.
    public var keyUsage: [String]?
    /// Extended key usages by OpenSSL's names or as object identifiers; empty leaves the extension out.
    public var extendedKeyUsage: [String] = []
    /// Name constraints by OpenSSL's syntax, as `permitted;DNS:allowed.test`; empty leaves them out.
    public var nameConstraints: [String] = []
    /// Whether the certificate demands a stapled OCSP response (RFC 7633).
    public var mustStaple = false
    /// The serial number; nil gives a random one of 64 bits.
    public var serial: UInt64?
    /// The digest of the signature; ignored by Ed25519.
    public var digest = Digest.sha256
    /// The subject key identifier: derived from the key, chosen, or none.
    public var subjectKeyIdentifier = KeyIdentifier.automatic
    /// The authority key identifier: the issuer's, chosen, or none.
    public var authorityKeyIdentifier = KeyIdentifier.automatic
    /// Further extensions by OpenSSL's names or object identifiers and its value syntax, added last:
    /// `("1.2.3.4", "critical,ASN1:UTF8String:text")`.
    public var extensions: [(name: String, value: String)] = []

    /// Makes options for an end entity with no name at all.
    public init() {}

    /// A server's certificate for host names and addresses, for the purpose `serverAuth`.
    public static func server(_ names: AlternativeName...) -> Self {
        server(names)
    }

    /// A server's certificate for host names and addresses, for the purpose `serverAuth`.
    public static func server(_ names: [AlternativeName]) -> Self {
        var options = Self()
        options.names = names
        options.extendedKeyUsage = ["serverAuth"]
        return options
    }

    /// A client's certificate, for the purpose `clientAuth`.
    public static func client(commonName: String) -> Self {
        var options = Self()
        options.subject = Subject(commonName: commonName)
        options.extendedKeyUsage = ["clientAuth"]
        return options
    }

    /// An authority's certificate, valid for ten years.
    ///
    /// The path length says how many authorities may follow below; nil sets no limit.
    public static func authority(commonName: String, pathLength: Int? = nil) -> Self {
        var options = Self()
        options.subject = Subject(commonName: commonName)
        options.validity = .years(10)
        options.basicConstraints = .authority(pathLength: pathLength)
        return options
    }

    /// A copy with changes.
    public func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

extension CertificateOptions {
    /// The parts of a distinguished name that tests need; encoded as UTF-8 strings.
    public struct Subject: Sendable, Hashable {
        /// The common name; may hold a NUL.
        public var commonName: String?
        /// The organization.
        public var organization: String?

        /// Makes a name of its parts, or an empty one.
        public init(commonName: String? = nil, organization: String? = nil) {
            self.commonName = commonName
            self.organization = organization
        }
    }

    /// From when until when a certificate, a revocation list or an OCSP response is valid, both included.
    public struct Validity: Sendable, Hashable {
        /// The first second.
        public var notBefore: Date
        /// The last second.
        public var notAfter: Date

        /// Makes a span of two dates; fractions of seconds are cut off.
        public init(from notBefore: Date, to notAfter: Date) {
            self.notBefore = notBefore
            self.notAfter = notAfter
        }

        /// From yesterday for a year.
        public static var current: Self { years(1) }

        /// From yesterday for a number of years of 365 days.
        public static func years(_ count: Int) -> Self {
            Self(from: .now.addingTimeInterval(-day), to: .now.addingTimeInterval(Double(count) * 365 * day))
        }

        /// Thirty days that ended yesterday.
        public static var expired: Self {
            Self(from: .now.addingTimeInterval(-31 * day), to: .now.addingTimeInterval(-day))
        }

        /// Thirty days that begin tomorrow.
        public static var notYet: Self {
            Self(from: .now.addingTimeInterval(day), to: .now.addingTimeInterval(31 * day))
        }

        private static var day: Double { 86_400 }
    }

    /// Where the key of a certificate comes from.
    public enum Key: Sendable, Hashable {
        /// A new key: a first certificate or a rotation.
        case new(KeyKind)
        /// A key that exists: a renewal.
        case existing(PrivateKey)
    }

    /// The basic constraints (RFC 5280, section 4.2.1.9), critical.
    public enum BasicConstraints: Sendable, Hashable {
        /// Without the extension.
        case omitted
        /// Not an authority.
        case endEntity
        /// An authority; nil sets no limit to the path.
        case authority(pathLength: Int?)
    }

    /// The digest that is signed.
    public enum Digest: String, Sendable, Hashable {
        /// SHA-256.
        case sha256
        /// SHA-384.
        case sha384
        /// SHA-1, which clients refuse.
        case sha1
    }

    /// What stands in a key identifier.
    public enum KeyIdentifier: Sendable, Hashable {
        /// As good authorities do it.
        case automatic
        /// These bytes.
        case bytes(Data)
        /// Without the extension.
        case omitted
    }
}
