package import Dispatch
public import HTTPMessage
public import SecurityPolicy

/// What carries one request to one server and brings the response back.
///
/// It follows no redirect, retries nothing and judges no status: the layers above do that. Implementations are called
/// from many tasks at a time.
public protocol Transport: Sendable {
    /// Sends a request once and returns when the head of the final response is there.
    ///
    /// Cancelling the calling task ends the transfer.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse
}

/// A transport that has a thread of its own, on which the manager's own steps of a request may run.
package protocol ExecutorProviding: Transport {
    /// Runs jobs on the transport's thread. Users' code never runs there.
    var executor: any TaskExecutor { get }
}

/// How a request is to be carried.
public struct TransportContext: Sendable {
    /// The policy that the server must pass before a byte of the request is sent.
    public var policy: SecurityPolicy {
        didSet { policyID = policy.policyID }
    }
    /// Equal for equal policies only.
    ///
    /// It is a digest, so whoever makes many contexts of a policy hands it on.
    package private(set) var policyID: String
    /// The policies by host, where the policy of each request goes by its host; nil where one policy is for all.
    package var hostPolicies: HostPolicies?
    /// Told of servers that were refused, or that a policy under audit would have refused; on no particular thread,
    /// never on the transport's own.
    public var trustObserver: (@Sendable (TrustReport) -> Void)?
    /// Asked about each new chain of a server before anything is sent to it; nil for nobody.
    ///
    /// Transports other than libcurl may not ask.
    public var serverTrustChallenge: ServerTrustChallenge.Handler? {
        get { serverTrustHook?.handler }
        set { serverTrustHook = newValue.map(ServerTrustHook.init) }
    }
    package var serverTrustHook: ServerTrustHook?
    /// What the client shows when the server asks for a certificate; nil for nothing.
    ///
    /// Connections of different identities are never shared.
    public var clientIdentity: ClientIdentity?
    /// When the whole call must have ended, and for a stream, when its head must be there; nil for never.
    public var deadline: ContinuousClock.Instant?
    /// Told of progress, on no particular thread, never on the transport's own.
    public var progress: ProgressHandler?
    /// Where the transport may write progress for ``RequestTask/progress``, from any thread.
    package var meter: ProgressMeter?
    /// Where the transport writes what the attempt cost; nil when nobody asks.
    package var metrics: MetricsRecorder?
    /// How long each stage may take.
    public var timeouts = Timeouts()
    /// How connections are made.
    public var connection = ConnectionOptions()
    /// Who asks, when the server challenges; nil when nobody answers it.
    public var authentication: Authentication?
    /// How many decoded bytes may come of one received byte, once 8 MiB have been decoded; 500 by default.
    ///
    /// More is taken for a decompression bomb and fails the request as a protocol error. Text seldom passes 50.
    public var maximumDecompressionRatio = 500
    /// Keeps the cookies of the call's servers and sends them; nil, the default, for none.
    public var cookieJar: CookieJar?
    /// Which attempt this is, from 1: retries and redirects count.
    public var attempt: Int
    /// Whether the content is wanted whole or piece by piece.
    package var delivery: Delivery
    /// The queue for progress; nil for one of the engine's own.
    ///
    /// With the queue on which the call completes, the last progress comes before the completion.
    package var progressQueue: DispatchQueue?

    /// How the content of the response reaches the caller.
    package enum Delivery: Sendable, Hashable {
        /// All at once, together with the head. More than `limit` bytes fail the request as `bodyTooLarge`.
        case buffered(limit: Int)
        /// The head first, then pieces as fast as the caller takes them.
        case streamed
    }

    /// Makes a context.
    public init(
        policy: SecurityPolicy = .default,
        deadline: ContinuousClock.Instant? = nil,
        progress: ProgressHandler? = nil,
        attempt: Int = 1,
        clientIdentity: ClientIdentity? = nil
    ) {
        self.init(policy: policy, policyID: policy.policyID, deadline: deadline)
        self.clientIdentity = clientIdentity
        self.progress = progress
        self.attempt = attempt
    }

    /// Makes a context of a policy whose identity is known.
    package init(policy: SecurityPolicy, policyID: String, deadline: ContinuousClock.Instant?) {
        self.policy = policy
        self.policyID = policyID
        self.deadline = deadline
        attempt = 1
        delivery = .streamed
    }
}
