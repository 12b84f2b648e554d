public import SecurityPolicy

/// What a single call does otherwise than its manager.
public struct RequestOptions: Sendable {
    /// The name of a certificate file that judges the server, looked up in the manager's certificate directories;
    /// nil for the manager's policy.
    ///
    /// The file's certificates are then the only anchors and pins: mode certificate, invalid certificates allowed,
    /// the host's name checked. A file that is missing or unreadable fails the call before any traffic.
    public var signature: String?
    /// The policy of this call; it beats ``signature`` and the manager's.
    public var securityPolicy: SecurityPolicy?
    /// What this call shows to a server that asks for a certificate; nil for the manager's.
    ///
    /// It is for the origin (scheme, host and port) that the call is made to: where a redirect leads to another one,
    /// the manager's takes its place, or none.
    public var clientIdentity: ClientIdentity?
    /// The time that the call may take in all, and a stream or download until its head is there; nil for the manager's.
    ///
    /// Zero or less fails at once.
    public var timeout: Duration?
    /// Told of progress, on no particular thread.
    public var progress: ProgressHandler?
    /// Which redirects are followed; nil for the manager's policy.
    public var redirectPolicy: RedirectPolicy?
    /// When the request is sent again; nil for the manager's policy.
    public var retryPolicy: RetryPolicy?
    /// Says that sending the request twice does no harm, whatever its method; false by default.
    public var isRepeatable: Bool = false
    /// The largest content in bytes; nil for the manager's limit.
    public var responseBodyLimit: Int?

    /// How long each stage of an attempt may take; nil for the manager's limits.
    public var timeouts: Timeouts?
    /// How connections are made; nil for the manager's way.
    public var connection: ConnectionOptions?
    /// Who asks, when a server challenges; nil for the manager's credentials.
    ///
    /// It is for the origin of the call's URL. A redirect to another origin does not get it, nor does an interceptor
    /// that sends the request there.
    public var authentication: Authentication?
    /// How many decoded bytes may come of one received byte; nil for the manager's limit.
    public var maximumDecompressionRatio: Int?
    /// Keeps the cookies of this call; nil for the manager's jar.
    public var cookieJar: CookieJar?
    /// Told of the life of this call, after the manager's monitors; none by default.
    public var eventMonitors: [any EventMonitor] = []

    /// Makes options that change nothing.
    public init() {}

    /// Options that let a named certificate judge the server.
    public static func signature(_ name: String) -> RequestOptions {
        var options = RequestOptions()
        options.signature = name
        return options
    }
}
