import COpenSSL
import FoundationEssentials
import Locks

/// Whose word counts: the certificate authorities at which a server's chain may end.
public struct TrustAnchors: Sendable {
    private enum Kind: Sendable, Hashable {
        case system
        case certificates(Set<Certificate>)
        case systemAnd(Set<Certificate>)
    }

    private let kind: Kind
    private let cache: Cache

    private init(_ kind: Kind) {
        self.kind = kind
        cache = Cache()
    }

    /// The anchors of this machine (the default).
    ///
    /// Read once per process, at the first evaluation that needs them. `SSL_CERT_FILE` and `SSL_CERT_DIR` are
    /// honored: if one of them is set, only what they name is trusted.
    public static let system = TrustAnchors(.system)

    /// Only these certificates; none of the system's.
    ///
    /// An empty set trusts nobody. Anchors should be self-signed: a chain may end at an intermediate certificate
    /// only when that is pinned.
    public static func certificates(_ certificates: Set<Certificate>) -> TrustAnchors {
        TrustAnchors(.certificates(certificates))
    }

    /// The system's anchors and these, for a company's own authority beside the public ones.
    public static func systemAnd(_ certificates: Set<Certificate>) -> TrustAnchors {
        certificates.isEmpty ? .system : TrustAnchors(.systemAnd(certificates))
    }

    /// Reads and parses now what the first evaluation would have to: about 20 ms for a public list.
    package func preload() { _ = store }

    /// The filled store, built at its first use; nil only when memory is out.
    var store: AnchorStore? {
        cache.store.withLock { store in
            if store == nil { store = AnchorStore(allCertificates) }
            return store
        }
    }

    /// Whether none of the anchors begins or ends to be valid in a span of time.
    func areSteady(during span: ClosedRange<Date>) -> Bool {
        let dates = cache.dates.withLock { dates in
            let known = dates ?? allCertificates.flatMap { [$0.notBefore, $0.notAfter] }
            dates = known
            return known
        }
        return !dates.contains(where: span.contains)
    }

    /// A text of fixed form that names these anchors, for `policyID`.
    ///
    /// The system's anchors are one word: they cannot change while the process lives.
    var identity: String {
        switch kind {
        case .system: "system"
        case .certificates(let own): "only:" + TrustAnchors.digest(own)
        case .systemAnd(let own): "system+:" + TrustAnchors.digest(own)
        }
    }

    private var allCertificates: [Certificate] {
        switch kind {
        case .system: SystemAnchors.shared.certificates
        case .certificates(let own): Array(own)
        case .systemAnd(let own): SystemAnchors.shared.certificates + own
        }
    }

    private static func digest(_ certificates: Set<Certificate>) -> String {
        certificates.map { OpenSSLText.hex($0.record.fingerprint) }.sorted().joined(separator: ",")
    }

    private final class Cache: Sendable {
        let store = Guarded<AnchorStore?>(nil)
        /// When the anchors begin and end to be valid.
        let dates = Guarded<[Date]?>(nil)
    }
}

extension TrustAnchors: Hashable {
    /// Equal when they name the same anchors.
    public static func == (left: TrustAnchors, right: TrustAnchors) -> Bool { left.kind == right.kind }

    /// Feeds what the anchors are.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }
}

extension TrustAnchors: Codable {
    private enum Field: String, CodingKey { case system, certificates }

    /// Reads `{"system": Bool, "certificates": [base64 DER]}`.
    ///
    /// - Throws: `DecodingError` for a missing field or a certificate that cannot be parsed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Field.self)
        let certificates = Set(try container.decode([Certificate].self, forKey: .certificates))
        switch (try container.decode(Bool.self, forKey: .system), certificates.isEmpty) {
        case (true, true): self = .system
        case (true, false): self = .systemAnd(certificates)
        case (false, _): self = .certificates(certificates)
        }
    }

    /// Writes the form that `init(from:)` reads; certificates in the order of their fingerprints.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Field.self)
        let (system, own): (Bool, Set<Certificate>) =
            switch kind {
            case .system: (true, [])
            case .certificates(let own): (false, own)
            case .systemAnd(let own): (true, own)
            }
        try container.encode(system, forKey: .system)
        try container.encode(own.sortedByFingerprint, forKey: .certificates)
    }
}

extension Set<Certificate> {
    /// A fixed order, so that equal sets are written equally.
    var sortedByFingerprint: [Certificate] {
        sorted { $0.record.fingerprint.lexicographicallyPrecedes($1.record.fingerprint) }
    }
}
