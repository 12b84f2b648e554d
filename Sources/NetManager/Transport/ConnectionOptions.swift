/// How connections are made: to where, through what, and where not.
///
/// Requests with different options never share a connection.
public struct ConnectionOptions: Sendable, Hashable {
    /// The proxy that requests go through; ``Proxy/none`` by default.
    public var proxy: Proxy = .none
    /// The path of a unix socket to connect to instead of the URL's host and port; nil by default.
    ///
    /// The URL still names the host for the `Host` field and for the certificate's name. CURLOPT_UNIX_SOCKET_PATH.
    public var unixSocketPath: String?
    /// Where to connect to instead of the URL's host and port; none by default.
    ///
    /// The URL still names the host for the `Host` field and for the certificate's name. CURLOPT_CONNECT_TO.
    public var overrides: [Override] = []
    /// The local address or interface that connections leave from, as CURLOPT_INTERFACE reads it; nil by default.
    public var localInterface: String?
    /// Which addresses of a name are used; any by default.
    public var addressFamily: AddressFamily = .any
    /// Whether addresses are refused that lie in private, loopback, link-local or otherwise special ranges.
    ///
    /// False by default. Turn it on where users' input names the host: the decision is made on the resolved address,
    /// for each connection, so a name that resolves to an inner address is refused too.
    public var refusesPrivateAddresses = false
    /// The oldest version of TLS that is spoken, with servers and with https proxies; 1.2 by default.
    ///
    /// CURLOPT_SSLVERSION. A peer that speaks only older ones fails the request as `tlsFailed`, a proxy as
    /// `proxyFailed`.
    public var minimumTLSVersion: TLSVersion = .tls12

    /// Makes options of the defaults.
    public init() {}

    /// Sends requests for one host and port to another address.
    public struct Override: Sendable, Hashable {
        /// The URL's host.
        public var host: String
        /// The URL's port; nil for any.
        public var port: Int?
        /// The host or address to connect to; an IPv6 address without brackets.
        public var toHost: String
        /// The port to connect to; nil for the URL's.
        public var toPort: Int?

        /// Makes an override.
        public init(host: String, port: Int? = nil, toHost: String, toPort: Int? = nil) {
            self.host = host
            self.port = port
            self.toHost = toHost
            self.toPort = toPort
        }
    }

    /// A version of TLS.
    public enum TLSVersion: Sendable, Hashable {
        /// TLS 1.2 (RFC 5246).
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// Which addresses of a name are used (CURLOPT_IPRESOLVE).
    public enum AddressFamily: Sendable, Hashable {
        /// Both families, IPv6 first and IPv4 a little later (RFC 8305).
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }
}
