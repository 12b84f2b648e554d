public import Dispatch
public import FoundationEssentials
public import HTTPMessage
public import SecurityPolicy
public import Serializers

extension HTTPSessionManager {
    /// What a manager goes by: a value, of which every call takes one snapshot when it is made.
    ///
    /// Changing the manager's configuration never changes a call that is under way.
    public struct Configuration: Sendable {
        /// What relative URLs are relative to (RFC 3986, section 5.2); nil by default.
        ///
        /// A slash is added when the path has none at its end: below `http://h/v1`, `users` is `http://h/v1/users`,
        /// and `/users` is `http://h/users`. An absolute URL replaces it altogether.
        public var baseURL: URL?
        /// The header fields of every request; none by default.
        ///
        /// Fields that a serializer adds keep the same names' values from here; fields given with the call replace
        /// both.
        public var headers: HTTPHeaders
        /// The time that a call may take in all, with retries, redirects and waits; 60 seconds by default.
        ///
        /// For streams and downloads it is the time until the head of the final response is there; the content is
        /// limited by ``Timeouts/idle`` only. Interceptors and hooks count too: their task is cancelled when the time is
        /// over, and the call ends whether they do or not. Zero or less fails every call at once. The time that a call
        /// is suspended (``RequestTask/suspend()``) does not count.
        public var timeout: Duration = .seconds(60)
        /// What a server must prove; `SecurityPolicy.default` by default: a chain to the system's roots, and its
        /// name.
        public var securityPolicy: SecurityPolicy
        /// The policies of hosts, where they differ; nil, the default, for ``securityPolicy`` everywhere.
        ///
        /// With them ``securityPolicy`` is not used: the fallback is for hosts that no pattern covers. A redirect is
        /// judged by the policy of the host that it leads to.
        public var hostPolicies: HostPolicies?
        /// Told of every server that was refused, and of those that a policy under audit would have refused; nil by
        /// default.
        ///
        /// It is called on ``completionQueue``, or on the manager's own queue.
        public var trustObserver: (@Sendable (TrustReport) -> Void)?
        /// The program's own hook, asked about a server before anything is sent to it; nil, the default, for none.
        ///
        /// It sees the chain and the policy's verdict, and only its answer ``ServerTrustChallenge/Answer/dangerouslyTrust``
        /// goes beyond the policy. It is asked about a chain that it has not let pass within the last ten minutes (256
        /// chains are kept), when a connection is made; connections that are kept are used without asking. The first
        /// handshake that shows such a chain is broken off, and another one follows the answer. Cancelling the call
        /// and its time limit end the waiting. Proxies are not asked about.
        ///
        /// Setting it, also to the same closure, begins anew: connections of another hook are not used.
        public var serverTrustChallenge: ServerTrustChallenge.Handler? {
            get { serverTrustHook?.handler }
            set { serverTrustHook = newValue.map(ServerTrustHook.init) }
        }
        /// The hook with its identity, which copies of the configuration share.
        var serverTrustHook: ServerTrustHook?
        /// What is shown to servers that ask for a certificate (mutual TLS); nil, the default, for nothing.
        ///
        /// It goes to every server that a request or a redirect of this manager leads to and that asks.
        public var clientIdentity: ClientIdentity?
        /// Puts parameters into requests; `FormRequestSerializer` by default: a query for GET, HEAD and DELETE, a
        /// form otherwise.
        public var requestSerializer: any RequestSerializer = FormRequestSerializer()
        /// How the bodies of requests are compressed; nil, the default, for not at all.
        ///
        /// Servers must be known to take it: there is no way to ask (RFC 9110, section 8.4).
        public var requestCompression: RequestCompression?
        /// Whether requests say `User-Agent` and `Accept-Language` as `DefaultHeaders` makes them, where nobody
        /// set these fields; true by default.
        public var sendsDefaultHeaders: Bool = true
        /// Reads the responses of calls that name no serializer of their own.
        public var responseSerializer = JSONResponseSerializer()
        /// The folders in which the certificates that a `signature` names are looked up, in this order.
        ///
        /// By default `Certificates` beside the executable, then `Certificates` in the working directory.
        public var certificateDirectories: [String] = CertificateDirectories.standard()
        /// Whether a server that is judged by a named certificate must also have the right name; true by default.
        ///
        /// Turn it off for certificates that carry no names.
        public var signatureValidatesDomainName: Bool = true
        /// Where `success` and `failure` are called; nil, the default, for a serial queue of the manager's own.
        ///
        /// It is never the main queue by itself: a program that waits on its main thread would wait for ever.
        public var completionQueue: DispatchQueue?
        /// The steps that every request passes, the first one outermost; none by default.
        public var interceptors: [any Interceptor] = []
        /// When a failed request is sent again; nil, the default, for never.
        public var retryPolicy: RetryPolicy?
        /// Which redirects are followed; ``RedirectPolicy/follow`` by default.
        public var redirectPolicy: RedirectPolicy = .follow
        /// The largest content, in bytes after decoding, that is held in memory; 64 MiB by default.
        ///
        /// More fails the call as ``RequestError/Kind/bodyTooLarge``. Streams have no limit.
        public var responseBodyLimit: Int = 64 << 20
        /// How long each stage of an attempt may take, beside the time for the whole call.
        ///
        /// By default only silence is limited: 60 seconds without a byte while somebody waits for one.
        public var timeouts = Timeouts()
        /// How connections are made: proxies, overrides of addresses, local interface; directly by default.
        public var connection = ConnectionOptions()
        /// Who asks, for servers that challenge; nil, the default, when nobody answers a challenge.
        ///
        /// It is for one origin: that of ``baseURL`` if there is one, else that of the call's URL. A redirect to
        /// another origin does not get it.
        public var authentication: Authentication?
        /// Asked when a server challenges (401) with a scheme that ``Authentication`` has, AFNetworking's
        /// `authenticationChallengeHandler`; nil, the default, lets ``authentication`` answer.
        ///
        /// It is asked at each origin that a request or redirect leads to, for the strongest scheme first, before any
        /// credentials are sent, and again when those that it gave are refused. It runs on Swift's own threads, and the
        /// timeout of the call goes on. A request whose body can be sent once cannot be sent again: its caller gets the
        /// 401. Challenges of proxies are answered from ``Proxy``, and servers' certificates are judged by the policy.
        public var challengeHandler: ChallengeHandler?
        /// How many decoded bytes may come of one received byte, once 8 MiB have been decoded; 500 by default.
        ///
        /// More is taken for a decompression bomb and fails the call as a protocol error.
        public var maximumDecompressionRatio = 500
        /// Keeps the cookies that servers set and sends them back; nil, the default, for none.
        ///
        /// It may be shared by managers. A request with a `Cookie` field of its own neither uses nor fills it.
        public var cookieJar: CookieJar?
        /// Told of the life of each call; none by default.
        public var eventMonitors: [any EventMonitor] = []
        /// The clocks that retries and deadlines go by.
        package var time: TimeSource = .system

        /// Makes a configuration of the defaults.
        /// - Parameters:
        ///   - baseURL: What relative URLs are relative to.
        ///   - headers: The header fields of every request.
        ///   - securityPolicy: What a server must prove.
        public init(
            baseURL: URL? = nil,
            headers: HTTPHeaders = [:],
            securityPolicy: SecurityPolicy = .default
        ) {
            self.baseURL = baseURL
            self.headers = headers
            self.securityPolicy = securityPolicy
        }
    }
}

/// Where certificates are looked for unless the configuration says otherwise.
private enum CertificateDirectories {
    private static let besideExecutable: String? = {
        // The link names the file that was started, whatever the first argument says (proc(5)).
        let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        guard let executable, let slash = executable.lastIndex(of: "/") else { return nil }
        return executable[..<slash] + "/Certificates"
    }()

    static func standard() -> [String] {
        let folder = FileManager.default.currentDirectoryPath
        return [besideExecutable, (folder == "/" ? "" : folder) + "/Certificates"].compactMap { $0 }
    }
}
