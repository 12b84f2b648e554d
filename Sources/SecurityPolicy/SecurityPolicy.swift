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
    public init(
        pinningMode: PinningMode = .none,
        pinnedCertificates: Set<Certificate> = [],
        pinnedPublicKeys: Set<PublicKeyPin> = [],
        allowInvalidCertificates: Bool = false,
        validatesDomainName: Bool = true,
        trustAnchors: TrustAnchors = .system,
        verificationDate: Date? = nil
    ) {
        self.pinningMode = pinningMode
        self.pinnedCertificates = pinnedCertificates
        self.pinnedPublicKeys = pinnedPublicKeys
        self.allowInvalidCertificates = allowInvalidCertificates
        self.validatesDomainName = validatesDomainName
        self.trustAnchors = trustAnchors
        self.verificationDate = verificationDate
    }

    /// No pins, the system's anchors, the host checked.
    public static let `default` = SecurityPolicy()
}
