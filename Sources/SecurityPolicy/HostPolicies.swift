/// A policy for each host, as a value.
///
/// The pattern that fits best decides, whatever the order: an exact one, then the one with the longest domain, then
/// `*.` before `**.`.
public struct HostPolicies: Sendable, Hashable {
    /// The policies by the hosts that they are for.
    public var policies: [HostPattern: SecurityPolicy]

    /// The policy for hosts that no pattern covers; `.default` by default.
    public var fallback: SecurityPolicy

    /// Whether a host that no pattern covers is refused, `false` by default.
    ///
    /// It guards against a misspelled pattern that leaves a host without its pins.
    public var allHostsMustBeEvaluated: Bool

    /// Collects policies.
    ///
    /// - Parameters:
    ///   - policies: the policies by the hosts that they are for.
    ///   - fallback: the policy for every other host.
    ///   - allHostsMustBeEvaluated: whether every other host is refused.
    public init(
        _ policies: [HostPattern: SecurityPolicy] = [:],
        fallback: SecurityPolicy = .default,
        allHostsMustBeEvaluated: Bool = false
    ) {
        self.policies = policies
        self.fallback = fallback
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
    }

    /// The policy for a host.
    ///
    /// - Parameter host: a name in A-label form or an address, as in a URL.
    /// - Returns: the policy, or nil if the host must not be contacted: no pattern covers it and
    ///   ``allHostsMustBeEvaluated`` is true, or it is no host at all.
    public func policy(for host: String) -> SecurityPolicy? {
        guard let name = HostName(host) else { return nil }
        var best: (pattern: HostPattern, policy: SecurityPolicy)?
        for (pattern, policy) in policies where pattern.matches(name) {
            if let current = best, !pattern.isMoreSpecific(than: current.pattern) { continue }
            best = (pattern, policy)
        }
        return best?.policy ?? (allHostsMustBeEvaluated ? nil : fallback)
    }
}

extension HostPolicies: Codable {
    private enum Field: String, CodingKey { case hosts, fallback, allHostsMustBeEvaluated }

    /// Reads `{"hosts": {PATTERN: policy}, "fallback": policy, "allHostsMustBeEvaluated": Bool}`.
    ///
    /// The fields but `hosts` may be left out.
    ///
    /// - Throws: `DecodingError`, also for a pattern that cannot be read, one that occurs twice and an unknown field.
    public init(from decoder: any Decoder) throws {
        for key in try decoder.container(keyedBy: AnyKey.self).allKeys
        where Field(rawValue: key.stringValue) == nil {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath + [key],
                    debugDescription: "There is no field of this name beside the hosts."
                )
            )
        }
        let container = try decoder.container(keyedBy: Field.self)
        let hosts = try container.nestedContainer(keyedBy: AnyKey.self, forKey: .hosts)
        var policies: [HostPattern: SecurityPolicy] = [:]
        for key in hosts.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
            guard let pattern = HostPattern(key.stringValue) else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: hosts.codingPath + [key],
                        debugDescription: "Not a host pattern: expected a host, *.DOMAIN or **.DOMAIN."
                    )
                )
            }
            guard policies[pattern] == nil else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: hosts.codingPath + [key], debugDescription: "The pattern occurs twice.")
                )
            }
            policies[pattern] = try hosts.decode(SecurityPolicy.self, forKey: key)
        }
        self.init(
            policies,
            fallback: try container.decodeIfPresent(SecurityPolicy.self, forKey: .fallback) ?? .default,
            allHostsMustBeEvaluated: try container.decodeIfPresent(
                Bool.self,
                forKey: .allHostsMustBeEvaluated
            )
                ?? false
        )
    }

    /// Writes the form that `init(from:)` reads.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Field.self)
        var hosts = container.nestedContainer(keyedBy: AnyKey.self, forKey: .hosts)
        for (pattern, policy) in policies.sorted(by: { $0.key.description < $1.key.description }) {
            try hosts.encode(policy, forKey: AnyKey(stringValue: pattern.description))
        }
        try container.encode(fallback, forKey: .fallback)
        try container.encode(allHostsMustBeEvaluated, forKey: .allHostsMustBeEvaluated)
    }
}
