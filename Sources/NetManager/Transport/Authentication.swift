/// Who asks, for servers that challenge (RFC 9110, section 11): answered by libcurl within one call.
///
/// For Basic and Bearer that are sent without being asked, set the `Authorization` field instead.
/// Credentials go to the server of the URL only; a redirect to another origin leaves them behind.
public struct Authentication: Sendable, Hashable {
    /// The schemes that libcurl can answer (CURLOPT_HTTPAUTH).
    public struct Schemes: OptionSet, Sendable, Hashable {
        /// The bits of the schemes.
        public let rawValue: Int

        /// Makes a set of bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Basic (RFC 7617): the password itself; sent at once when it is the only scheme.
        public static let basic = Schemes(rawValue: 1)
        /// Digest (RFC 7616).
        public static let digest = Schemes(rawValue: 2)
        /// NTLM, which authenticates the connection: it is never shared with another user.
        public static let ntlm = Schemes(rawValue: 4)
        /// Negotiate (RFC 4559) with the Kerberos tickets that the process has, whatever user and password say.
        ///
        /// It authenticates the connection: a request that may use it has a connection of its own, over HTTP/1.1, which
        /// carries no other request before or after it.
        public static let negotiate = Schemes(rawValue: 8)
    }

    /// The user's name.
    public var user: String
    /// The password.
    public var password: String
    /// The schemes that may be used; of several, the strongest that the server offers.
    public var schemes: Schemes

    /// Makes credentials.
    public init(user: String, password: String, schemes: Schemes = [.digest]) {
        self.user = user
        self.password = password
        self.schemes = schemes
    }

    /// The user whose Kerberos tickets the process has, by Negotiate (RFC 4559) alone; sent at once, without being asked.
    ///
    /// Tickets are found as the system's Kerberos library finds them: `KRB5CCNAME`, or the default of `krb5.conf`, where
    /// `kinit` puts them. Without one the request is sent without credentials, and the server's 401 is the answer.
    public static let negotiate = Authentication(user: "", password: "", schemes: .negotiate)
}

extension Authentication: CustomStringConvertible {
    /// The user's name alone.
    public var description: String { "\(user):…" }
}
