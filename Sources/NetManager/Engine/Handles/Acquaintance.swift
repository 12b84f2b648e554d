/// Whom a handle that may remember a challenge has spoken for, and to whom.
///
/// libcurl keeps what a server or a proxy has asked with the handle: realm, nonce and count of Digest, and which of several
/// schemes was chosen. The handle's next request would answer with it at once, whoever sends it and whomever it goes to
/// (CVE-2026-7168 and CVE-2026-8927 for proxies): another server was shown the realm and nonce of the one before, and was
/// sent a password in the clear because that one had wanted it so. So such a handle serves its acquaintances alone, who
/// need not be asked again.
final class Acquaintance: Equatable {
    /// Scheme, host and port as they are written.
    private let origin: Substring
    private let policyID: String
    /// Without the password.
    private let authentication: Authentication?
    /// With the proxy, and without its password.
    private let connection: ConnectionOptions

    /// Whether it can be told again: what the environment says of proxies may change.
    var isLasting: Bool { connection.proxy.kind != .environment }

    /// - Parameter plan: A request that may be asked for something else than a password in the clear.
    init(_ plan: TransferPlan) {
        let text = plan.url.absoluteString.prefix { $0 != "?" && $0 != "#" }
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        origin = text[..<(parts.prefix(3).last?.endIndex ?? text.endIndex)]
        policyID = plan.policyID
        var authentication = plan.context.authentication
        authentication?.password = ""
        self.authentication = authentication
        var connection = plan.context.connection
        connection.proxy.credentials?.password = ""
        self.connection = connection
    }

    static func == (one: Acquaintance, other: Acquaintance) -> Bool {
        one.origin == other.origin && one.authentication == other.authentication
            && one.connection == other.connection && one.policyID == other.policyID
    }
}

extension Authentication.Schemes {
    /// Whether nothing but Basic is used, for which libcurl remembers nothing that matters to others who use nothing else.
    var areBasicAlone: Bool { isDisjoint(with: [.digest, .ntlm, .negotiate]) }
}
