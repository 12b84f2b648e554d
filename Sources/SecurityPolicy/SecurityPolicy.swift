public import FoundationEssentials

/// Which servers are trusted: pinning, host names and trust anchors, as a value.
///
/// A policy holds no state and may be used on any thread. ``evaluate(_:forDomain:)`` uses no network and no clock
/// or store but those that the policy names.
///
/// ```swift
/// let policy = SecurityPolicy(
///     pinningMode: .publicKey,
///     pinnedPublicKeys: Set([PublicKeyPin("sha256/…")].compactMap { $0 })
/// )
/// ```
public struct SecurityPolicy: Sendable, Hashable {
    /// What is compared with the pins.
    ///
    /// The raw values are AFNetworking's.
    public enum PinningMode: Int, Sendable, Hashable, Codable {
        /// Nothing: the trust anchors decide.
        case none = 0
        /// Public keys: a renewed certificate with the same key passes.
        case publicKey = 1
        /// Whole certificates: the pinned certificates are the only anchors.
        case certificate = 2
    }

    /// What is pinned; `.none` by default.
    public var pinningMode: PinningMode

    /// Certificates that are pins: a server's own, an intermediate's or an authority's.
    ///
    /// None by default. In mode `publicKey` their keys are pinned.
    public var pinnedCertificates: Set<Certificate>

    /// Keys that are pins in mode `publicKey`, beside those of ``pinnedCertificates``.
    ///
    /// None by default. Pin a second key that is kept offline, so that the first one can be replaced.
    public var pinnedPublicKeys: Set<PublicKeyPin>

    /// Whether the trust anchors need not vouch for the server; `false` by default.
    ///
    /// With it a private authority or a self-made certificate can be used as a pin. A pinned certificate must still
    /// be in date and the path to it valid; the server's own certificate is not looked at any further only if its
    /// key is pinned in mode `publicKey`. In mode `none` it is refused, unless names are not checked either.
    public var allowInvalidCertificates: Bool

    /// Whether the certificate must be for the host that was asked for; `true` by default.
    public var validatesDomainName: Bool

    /// Whose word counts; `.system` by default.
    public var trustAnchors: TrustAnchors

    /// The time at which certificates must be valid; nil, the default, is the time of the evaluation.
    public var verificationDate: Date?

    /// How much is asked of every certificate of a path; `.standard` by default.
    public var strictness: Strictness

    /// The most certificates between the server's and the anchor; 8 by default, and never more.
    ///
    /// Those that an authority issued to itself are not counted (RFC 5280, 4.2.1.9).
    public var maximumIntermediates: Int

    /// Lists of revoked certificates; none by default.
    ///
    /// If there are any, they decide: every certificate of the path to a trust anchor, the anchor included, must be
    /// covered by a list that is in date, and on a path to a pin the server's own. A missing list is
    /// `untrusted(code: 3, …)`, an expired one 12, a revoked certificate `revoked`.
    public var revocationLists: Set<RevocationList>

    /// What is asked of a stapled OCSP response; `.off` by default.
    ///
    /// A failure is `revoked`.
    public var stapledOCSP: StapledOCSP

    /// What happens to a server that no pin fits; `.enforced` by default.
    public var pinEnforcement: PinEnforcement

    /// The time from which on the pins do not count and the trust anchors alone decide; nil, the default, is never.
    ///
    /// It keeps an application that cannot be updated from being locked out. Without it, outdated pins refuse.
    public var pinExpiration: Date?

    /// How much is asked of certificates.
    public enum Strictness: String, Sendable, Hashable, Codable {
        /// What TLS needs: signatures, dates, purposes, constraints, critical extensions, names, key sizes.
        case standard
        /// Also the form that public authorities must keep to.
        ///
        /// These are the rules of RFC 5280 and of the CA/Browser Forum that OpenSSL's strict mode and this module
        /// check: key identifiers, serial numbers, purposes, well-formed names and constraints, and a common name
        /// that is also an alternative name. Many private authorities do not.
        case webPKI
    }

    /// Makes a policy; without arguments, the one of a browser.
    ///
    /// - Parameters:
    ///   - pinningMode: what is compared with the pins.
    ///   - pinnedCertificates: certificates that are pins.
    ///   - pinnedPublicKeys: SHA-256 of keys that are pins, for mode `publicKey` only.
    ///   - allowInvalidCertificates: whether the trust anchors need not vouch for the server.
    ///   - validatesDomainName: whether the certificate must be for the host.
    ///   - trustAnchors: whose word counts.
    ///   - verificationDate: the time at which certificates must be valid; nil is now.
    ///   - strictness: how much is asked of every certificate of a path.
    ///   - maximumIntermediates: the most certificates between the server's and the anchor, up to 8.
    ///   - revocationLists: lists that must cover the path, if there are any.
    ///   - stapledOCSP: what is asked of a stapled OCSP response.
    ///   - pinEnforcement: what happens to a server that no pin fits.
    ///   - pinExpiration: the time from which on the trust anchors decide in the place of the pins; nil is never.
    public init(
        pinningMode: PinningMode = .none,
        pinnedCertificates: Set<Certificate> = [],
        pinnedPublicKeys: Set<PublicKeyPin> = [],
        allowInvalidCertificates: Bool = false,
        validatesDomainName: Bool = true,
        trustAnchors: TrustAnchors = .system,
        verificationDate: Date? = nil,
        strictness: Strictness = .standard,
        maximumIntermediates: Int = 8,
        revocationLists: Set<RevocationList> = [],
        stapledOCSP: StapledOCSP = .off,
        pinEnforcement: PinEnforcement = .enforced,
        pinExpiration: Date? = nil
    ) {
        self.pinningMode = pinningMode
        self.pinnedCertificates = pinnedCertificates
        self.pinnedPublicKeys = pinnedPublicKeys
        self.allowInvalidCertificates = allowInvalidCertificates
        self.validatesDomainName = validatesDomainName
        self.trustAnchors = trustAnchors
        self.verificationDate = verificationDate
        self.strictness = strictness
        self.maximumIntermediates = maximumIntermediates
        self.revocationLists = revocationLists
        self.stapledOCSP = stapledOCSP
        self.pinEnforcement = pinEnforcement
        self.pinExpiration = pinExpiration
    }

    /// No pins, the system's anchors, the host checked.
    public static let `default` = SecurityPolicy()
}
