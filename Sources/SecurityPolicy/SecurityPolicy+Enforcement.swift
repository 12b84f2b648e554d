import FoundationEssentials

extension SecurityPolicy {
    /// What happens to a server that no pin fits.
    public enum PinEnforcement: String, Sendable, Hashable, Codable {
        /// It is refused.
        case enforced
        /// It is let through if the trust anchors vouch for it, and the decision carries the error.
        ///
        /// Meant for the time before pins are enforced: it is as safe as a policy without pins.
        case audit
    }

    /// Whether pins are past the date after which only the trust anchors count.
    var pinsHaveExpired: Bool {
        guard pinningMode != .none, let pinExpiration else { return false }
        return (verificationDate ?? .now) >= pinExpiration
    }

    /// The same policy with the trust anchors in the place of the pins.
    var withoutPins: SecurityPolicy {
        var policy = self
        policy.pinningMode = .none
        policy.allowInvalidCertificates = false
        return policy
    }
}
