public import SecurityPolicy

/// A verdict in the words of the matrix's table, so far as they are compared.
public struct MatrixVerdict: Sendable, Hashable, CustomStringConvertible {
    /// Whether the server is trusted.
    public var isAccepted: Bool
    /// The reason's word, and behind `untrusted` OpenSSL's number.
    public var reason: String

    /// Keeps the word before the first parenthesis, and the number behind `untrusted`.
    public init(_ isAccepted: Bool, reason: String) {
        self.isAccepted = isAccepted
        let parts = reason.split(separator: "(", maxSplits: 1)
        var word = String(parts.first ?? "")
        if word == "untrusted", parts.count == 2 { word += " " + parts[1].prefix { $0.isNumber } }
        self.reason = word
    }

    /// Reads a decision.
    public init(_ decision: TrustDecision) {
        self.init(true, reason: decision.basis == .systemTrust ? "trusted" : "\(decision.basis)")
    }

    /// Reads an error.
    public init(_ error: TrustError) {
        switch error {
        case .untrusted(let code, _): self.init(false, reason: "untrusted(\(code)")
        default: self.init(false, reason: Mirror(reflecting: error).children.first?.label ?? error.word)
        }
    }

    /// As the table writes it.
    public var description: String { "\(isAccepted ? "ACCEPT" : "REJECT") \(reason)" }
}

extension TrustError {
    /// The name of a case without values.
    fileprivate var word: String {
        switch self {
        case .noCertificate: "noCertificate"
        case .chainTooLarge: "chainTooLarge"
        case .noPinsConfigured: "noPinsConfigured"
        case .domainValidationNeedsPinsOrTrust: "domainValidationNeedsPinsOrTrust"
        case .domainRequired: "domainRequired"
        default: "?"
        }
    }
}
