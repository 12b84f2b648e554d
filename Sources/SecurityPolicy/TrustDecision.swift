/// Why a server is trusted.
public struct TrustDecision: Sendable, Hashable {
    /// The rule that accepted.
    public enum Basis: Sendable, Hashable {
        /// A valid path to one of the policy's trust anchors; nothing was pinned.
        case systemTrust
        /// A valid path to a pinned certificate.
        case pinnedCertificate
        /// The server's own key is pinned.
        case pinnedLeafKey
        /// A valid path to a certificate whose key is pinned.
        case pinnedKey
        /// The policy accepts every server: no pinning, invalid certificates allowed, names not checked.
        case everythingAllowed
        /// A program's own challenge hook let the server pass although the policy refuses it.
        ///
        /// An evaluation never says so.
        case dangerouslyOverruled
    }

    /// The rule that accepted.
    public var basis: Basis

    /// The certificates that were verified, leaf first, ending at the anchor or pin.
    ///
    /// For `pinnedLeafKey` with invalid certificates allowed, for `everythingAllowed` and for `dangerouslyOverruled` no path
    /// was built: it is the leaf alone.
    public var path: [Certificate]

    /// The pin that matched: of the pinned key, or of the pinned certificate's key; nil when none was needed.
    public var matchedPin: PublicKeyPin?

    /// Why the pins would have refused the server, if the policy only audits them; for `dangerouslyOverruled`, why the
    /// policy refuses it.
    public var auditedError: TrustError?

    /// Makes a decision by hand, for stubs and tests.
    public init(
        basis: Basis,
        path: [Certificate],
        matchedPin: PublicKeyPin? = nil,
        auditedError: TrustError? = nil
    ) {
        self.basis = basis
        self.path = path
        self.matchedPin = matchedPin
        self.auditedError = auditedError
    }
}
