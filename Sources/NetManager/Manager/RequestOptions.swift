public import SecurityPolicy

/// What a single call does otherwise than its manager.
public struct RequestOptions: Sendable {
    /// What was set; nil while nothing was, so that the options of most calls cost nothing to hand on.
    private var stored: Stored?

    /// The name of a certificate file that judges the server, looked up in the manager's certificate directories;
    /// nil for the manager's policy.
    ///
    /// The file's certificates are then the only anchors and pins: mode certificate, invalid certificates allowed,
    /// the host's name checked. A file that is missing or unreadable fails the call before any traffic.
    public var signature: String? {
        get { stored?.values.signature ?? nil }
        set { change { $0.signature = newValue } }
    }
    /// The policy of this call; it beats ``signature`` and the manager's.
    public var securityPolicy: SecurityPolicy? {
        get { stored?.values.securityPolicy ?? nil }
        set { change { $0.securityPolicy = newValue } }
    }
    /// What this call shows to a server that asks for a certificate; nil for the manager's.
    ///
    /// It is for the origin (scheme, host and port) that the call is made to: where a redirect leads to another one,
    /// the manager's takes its place, or none.
    public var clientIdentity: ClientIdentity? {
        get { stored?.values.clientIdentity ?? nil }
        set { change { $0.clientIdentity = newValue } }
    }
    /// The time that the call may take in all, and a stream or download until its head is there; nil for the manager's.
    ///
    /// Zero or less fails at once.
    public var timeout: Duration? {
        get { stored?.values.timeout ?? nil }
        set { change { $0.timeout = newValue } }
    }
    /// Told of progress, on no particular thread.
    ///
    /// A call with closures tells it on their queue, all of it before its own closure; an async call may return before the
    /// last figures are told.
    public var progress: ProgressHandler? {
        get { stored?.values.progress ?? nil }
        set { change { $0.progress = newValue } }
    }
    /// Gets the figures of progress, as a sequence that ends with the call; nil, the default, for nobody.
    ///
    /// It is for one call.
    public var progressUpdates: ProgressUpdates? {
        get { stored?.values.progressUpdates ?? nil }
        set { change { $0.progressUpdates = newValue } }
    }
    /// Which redirects are followed; nil for the manager's policy.
    public var redirectPolicy: RedirectPolicy? {
        get { stored?.values.redirectPolicy ?? nil }
        set { change { $0.redirectPolicy = newValue } }
    }
    /// When the request is sent again; nil for the manager's policy.
    public var retryPolicy: RetryPolicy? {
        get { stored?.values.retryPolicy ?? nil }
        set { change { $0.retryPolicy = newValue } }
    }
    /// Says that sending the request twice does no harm, whatever its method; false by default.
    public var isRepeatable: Bool {
        get { stored?.values.isRepeatable ?? false }
        set { change { $0.isRepeatable = newValue } }
    }
    /// The largest content in bytes; nil for the manager's limit.
    public var responseBodyLimit: Int? {
        get { stored?.values.responseBodyLimit ?? nil }
        set { change { $0.responseBodyLimit = newValue } }
    }
    /// How long each stage of an attempt may take; nil for the manager's limits.
    public var timeouts: Timeouts? {
        get { stored?.values.timeouts ?? nil }
        set { change { $0.timeouts = newValue } }
    }
    /// How connections are made; nil for the manager's way.
    public var connection: ConnectionOptions? {
        get { stored?.values.connection ?? nil }
        set { change { $0.connection = newValue } }
    }
    /// Who asks, when a server challenges; nil for the manager's credentials.
    ///
    /// It is for the origin of the call's URL. A redirect to another origin does not get it, nor does an interceptor
    /// that sends the request there.
    public var authentication: Authentication? {
        get { stored?.values.authentication ?? nil }
        set { change { $0.authentication = newValue } }
    }
    /// Asked when a server challenges; nil for the manager's handler.
    public var challengeHandler: ChallengeHandler? {
        get { stored?.values.challengeHandler ?? nil }
        set { change { $0.challengeHandler = newValue } }
    }
    /// How many decoded bytes may come of one received byte; nil for the manager's limit.
    public var maximumDecompressionRatio: Int? {
        get { stored?.values.maximumDecompressionRatio ?? nil }
        set { change { $0.maximumDecompressionRatio = newValue } }
    }
    /// Keeps the cookies of this call; nil for the manager's jar.
    public var cookieJar: CookieJar? {
        get { stored?.values.cookieJar ?? nil }
        set { change { $0.cookieJar = newValue } }
    }
    /// How urgent the call is, beside others that wait for a connection; ``RequestPriority/normal`` by default.
    public var priority: RequestPriority {
        get { stored?.values.priority ?? .normal }
        set { change { $0.priority = newValue } }
    }
    /// Whether a call that is made with closures waits for ``RequestTask/resume()`` before anything is sent, as tasks of
    /// a `URLSession` do; false by default.
    ///
    /// It is without effect on calls that are awaited.
    public var startsSuspended: Bool {
        get { stored?.values.startsSuspended ?? false }
        set { change { $0.startsSuspended = newValue } }
    }
    /// Told of the life of this call, after the manager's monitors; none by default.
    public var eventMonitors: [any EventMonitor] {
        get { stored?.values.eventMonitors ?? [] }
        set { change { $0.eventMonitors = newValue } }
    }

    /// Makes options that change nothing.
    public init() {}

    /// Options that let a named certificate judge the server.
    public static func signature(_ name: String) -> RequestOptions {
        var options = RequestOptions()
        options.signature = name
        return options
    }

    /// Whether nothing was set.
    var changeNothing: Bool { stored == nil }

    /// Whether anything was set that says how requests are carried, beside the policy.
    var changeCarriage: Bool {
        guard let values = stored?.values else { return false }
        return values.clientIdentity != nil || values.timeouts != nil || values.connection != nil
            || values.authentication != nil || values.maximumDecompressionRatio != nil
            || values.cookieJar != nil
    }

    private mutating func change(_ change: (inout Values) -> Void) {
        var values = stored?.values ?? Values()
        change(&values)
        stored = Stored(values)
    }

    private struct Values: Sendable {
        var signature: String?
        var securityPolicy: SecurityPolicy?
        var clientIdentity: ClientIdentity?
        var timeout: Duration?
        var progress: ProgressHandler?
        var progressUpdates: ProgressUpdates?
        var redirectPolicy: RedirectPolicy?
        var retryPolicy: RetryPolicy?
        var isRepeatable: Bool = false
        var responseBodyLimit: Int?
        var timeouts: Timeouts?
        var connection: ConnectionOptions?
        var authentication: Authentication?
        var challengeHandler: ChallengeHandler?
        var maximumDecompressionRatio: Int?
        var cookieJar: CookieJar?
        var priority = RequestPriority.normal
        var startsSuspended = false
        var eventMonitors: [any EventMonitor] = []
    }

    /// Never changed, so copies of the options share it.
    private final class Stored: Sendable {
        let values: Values

        init(_ values: Values) {
            self.values = values
        }
    }
}
