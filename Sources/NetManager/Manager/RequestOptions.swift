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
    /// The time that the call may take in all; nil for the manager's.
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

    /// Makes options that change nothing.
    public init() {}

    /// Options that let a named certificate judge the server.
    public static func signature(_ name: String) -> RequestOptions {
        var options = RequestOptions()
        options.signature = name
        return options
    }
}
