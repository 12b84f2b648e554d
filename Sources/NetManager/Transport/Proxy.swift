public import SecurityPolicy

/// A proxy, and for which hosts it is not used.
///
/// A request over https goes through a tunnel (RFC 9110, section 9.3.6): the server is verified as without the proxy,
/// under the request's own policy.
public struct Proxy: Sendable, Hashable {
    /// How the proxy is spoken to.
    public enum Kind: Sendable, Hashable {
        /// No proxy, whatever the environment says.
        case none
        /// What the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say, as curl reads them.
        ///
        /// An `https://` proxy in a variable is refused, as no policy goes with it.
        case environment
        /// HTTP, without TLS to the proxy.
        case http
        /// HTTP over TLS; the proxy must pass this policy, which is not the server's.
        case https(SecurityPolicy)
        /// SOCKS 5 (RFC 1928); the proxy resolves names.
        case socks5
    }

    /// How the proxy is spoken to.
    public var kind: Kind
    /// The proxy's host name or address, without scheme, user and path; empty for ``Kind/none`` and ``Kind/environment``.
    public var host: String
    /// The proxy's port.
    public var port: Int
    /// Who asks, for a proxy that wants to know; nil by default.
    public var credentials: Credentials?
    /// Hosts that are connected to directly: names, which cover their subdomains, addresses and networks, as
    /// CURLOPT_NOPROXY reads them; none by default.
    public var exceptions: [String] = []

    /// A user's name and password.
    public struct Credentials: Sendable, Hashable {
        /// The name.
        public var user: String
        /// The password.
        public var password: String
        /// How the proxy may be answered; at once where it is Basic alone.
        package var schemes: Authentication.Schemes = .basic

        /// Makes credentials.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    private init(_ kind: Kind, host: String = "", port: Int = 0, credentials: Credentials? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// No proxy, whatever the environment says.
    public static let none = Proxy(.none)
    /// What the environment's variables say, as curl reads them.
    public static let environment = Proxy(.environment)

    /// A proxy over HTTP.
    public static func http(host: String, port: Int, credentials: Credentials? = nil) -> Proxy {
        Proxy(.http, host: host, port: port, credentials: credentials)
    }

    /// A proxy over HTTPS that must pass a policy of its own.
    public static func https(
        host: String,
        port: Int,
        policy: SecurityPolicy = .default,
        credentials: Credentials? = nil
    ) -> Proxy {
        Proxy(.https(policy), host: host, port: port, credentials: credentials)
    }

    /// A SOCKS 5 proxy, which resolves the names.
    public static func socks5(host: String, port: Int, credentials: Credentials? = nil) -> Proxy {
        Proxy(.socks5, host: host, port: port, credentials: credentials)
    }
}

extension Proxy.Credentials: CustomStringConvertible {
    /// The user's name alone.
    public var description: String { "\(user):…" }
}
