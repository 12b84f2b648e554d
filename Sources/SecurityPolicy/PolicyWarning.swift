import FoundationEssentials

/// What is allowed in a policy and still worth a second look.
///
/// Nothing is refused because of it. Print ``SecurityPolicy/warnings`` when a program starts.
@nonexhaustive
public enum PolicyWarning: Sendable, Hashable, Codable {
    /// Fewer than two different keys are pinned: when the one is lost or replaced, nobody gets through.
    case noBackupPin
    /// There are pins that the pinning mode does not look at.
    case unusedPins
    /// A pinned certificate is out of date, so that it refuses the server in mode `certificate`: its subject.
    case outdatedPin(String)
    /// The pins are past ``SecurityPolicy/pinExpiration``: the trust anchors alone decide.
    case expiredPins
    /// The policy accepts every server.
    case acceptsEveryServer
}

extension PolicyWarning: CustomStringConvertible {
    /// What it is and what to do.
    public var description: String {
        switch self {
        case .noBackupPin:
            """
            Only one key is pinned. Pin a second one that is kept offline, or that of an authority, before the first is \
            replaced.
            """
        case .unusedPins:
            """
            There are pins that count nowhere: mode none looks at none, and mode certificate at certificates only. Set the \
            pinning mode, or remove them.
            """
        case .outdatedPin(let subject):
            "The pinned certificate \(OpenSSLText.printable(subject.utf8)) is out of date. Pin its successor."
        case .expiredPins:
            "The pins have expired and do not count any more. Replace them, and the date."
        case .acceptsEveryServer:
            "The policy accepts every server: anybody may read and change what is sent under it."
        }
    }
}

extension SecurityPolicy {
    /// What is allowed and still worth a second look, such as a single pin without a backup; empty when there is nothing.
    ///
    /// Dates are compared with ``verificationDate``, or with the time of the call.
    public var warnings: [PolicyWarning] {
        var found: [PolicyWarning] = []
        let now = verificationDate ?? .now
        switch pinningMode {
        case .none:
            if allowInvalidCertificates, !validatesDomainName { found.append(.acceptsEveryServer) }
            if !pinnedCertificates.isEmpty || !pinnedPublicKeys.isEmpty { found.append(.unusedPins) }
        case .certificate:
            if !pinnedPublicKeys.isEmpty { found.append(.unusedPins) }
            for certificate in pinnedCertificates.sortedByFingerprint
            where certificate.notAfter <= now || certificate.notBefore > now {
                found.append(.outdatedPin(certificate.subject))
            }
        case .publicKey: break
        }
        if pinningMode != .none {
            // A policy without any pin is an error, not a warning.
            if pinnedKeys.count == 1 { found.insert(.noBackupPin, at: 0) }
            if pinsHaveExpired { found.append(.expiredPins) }
        }
        return found
    }

    /// The different keys that count in the pinning mode.
    private var pinnedKeys: Set<PublicKeyPin> {
        let keys = Set(pinnedCertificates.map(\.publicKeyPin))
        return pinningMode == .publicKey ? keys.union(pinnedPublicKeys) : keys
    }
}

extension HostPolicies {
    /// The warnings of each host's policy; hosts without any are left out.
    ///
    /// Those of the fallback are ``fallback``'s own.
    public var warnings: [HostPattern: [PolicyWarning]] {
        policies.mapValues(\.warnings).filter { !$0.value.isEmpty }
    }
}
