public import FoundationEssentials

/// What is worth sending to whoever watches over pins when a server was refused, or would have been.
///
/// It holds nothing of the request: no path, header or body.
public struct TrustReport: Sendable, Hashable, Codable {
    /// When the server was judged.
    public var date: Date
    /// The host that was asked for.
    public var host: String
    /// Its port.
    public var port: Int
    /// Whether the server was let through all the same, since its pins are only audited or a challenge hook overruled the
    /// policy.
    public var isAudit: Bool
    /// The error's text.
    public var reason: String
    /// The chain as sent, leaf first, each certificate in PEM.
    public var sentChain: [String]
    /// The keys of that chain as `sha256/…`.
    public var presentedPins: [PublicKeyPin]
    /// The keys that the policy pins, those of its certificates included, in the order of their texts.
    public var expectedPins: [PublicKeyPin]
    /// What is questionable about the policy itself, such as a single pin without a backup.
    public var warnings: [PolicyWarning]

    /// Describes a refusal, or the error that a decision under audit carries.
    ///
    /// - Parameters:
    ///   - error: why the server was refused, or would have been.
    ///   - serverTrust: what it sent.
    ///   - host: the host that was asked for.
    ///   - port: its port, 443 by default.
    ///   - policy: the policy that judged.
    ///   - date: when it did, now by default.
    public init(
        _ error: TrustError,
        from serverTrust: ServerTrust,
        host: String,
        port: Int = 443,
        policy: SecurityPolicy,
        date: Date = .now
    ) {
        // An audit lets through only whom the anchors vouch for.
        let isAudit =
            policy.pinEnforcement == .audit && policy.withoutPins.accepts(serverTrust, forDomain: host)
        self.init(
            error,
            from: serverTrust,
            host: host,
            port: port,
            policy: policy,
            date: date,
            isAudit: isAudit
        )
    }

    /// Describes an error whose consequence is known.
    package init(
        _ error: TrustError,
        from serverTrust: ServerTrust,
        host: String,
        port: Int,
        policy: SecurityPolicy,
        date: Date = .now,
        isAudit: Bool
    ) {
        self.date = date
        self.host = host
        self.port = port
        self.isAudit = isAudit
        reason = error.description
        sentChain = serverTrust.certificates.map(\.pem)
        presentedPins = serverTrust.certificates.map(\.publicKeyPin)
        expectedPins = policy.pinnedPublicKeys.union(policy.pinnedCertificates.map(\.publicKeyPin))
            .sorted { $0.description < $1.description }
        warnings = policy.warnings
    }
}
