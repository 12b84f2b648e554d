package import Dispatch
import HTTPMessage
public import SecurityPolicy
import Synchronization

/// How a request is to be carried.
public struct TransportContext: Sendable {
    /// The policy that the server must pass before a byte of the request is sent.
    public var policy: SecurityPolicy {
        get { settings.values.policy }
        set {
            change {
                $0.policy = newValue
                $0.policyID = newValue.policyID
            }
        }
    }
    /// Equal for equal policies only.
    ///
    /// It is a digest, so whoever makes many contexts of a policy hands it on.
    package var policyID: String { settings.values.policyID }
    /// The policies by host, where the policy of each request goes by its host; nil where one policy is for all.
    package var hostPolicies: HostPolicies? {
        get { settings.values.hostPolicies }
        set { change { $0.hostPolicies = newValue } }
    }
    /// Told of servers that were refused, or that a policy under audit would have refused; on no particular thread,
    /// never on the transport's own.
    public var trustObserver: (@Sendable (TrustReport) -> Void)? {
        get { settings.values.trustObserver }
        set { change { $0.trustObserver = newValue } }
    }
    /// Asked about each new chain of a server before anything is sent to it; nil for nobody.
    ///
    /// Transports other than libcurl may not ask.
    public var serverTrustChallenge: ServerTrustChallenge.Handler? {
        get { serverTrustHook?.handler }
        set { serverTrustHook = newValue.map(ServerTrustHook.init) }
    }
    package var serverTrustHook: ServerTrustHook? {
        get { settings.values.serverTrustHook }
        set { change { $0.serverTrustHook = newValue } }
    }
    /// What the client shows when the server asks for a certificate; nil for nothing.
    ///
    /// Connections of different identities are never shared.
    public var clientIdentity: ClientIdentity? {
        get { settings.values.clientIdentity }
        set { change { $0.clientIdentity = newValue } }
    }
    /// When the whole call must have ended, and for a stream, when its head must be there; nil for never.
    public var deadline: ContinuousClock.Instant? {
        get { end?.instant }
        set { end = newValue.map(Moment.init) }
    }
    /// The same as ``deadline``.
    package var end: Moment?
    /// Told of progress, on no particular thread, never on the transport's own.
    public var progress: ProgressHandler?
    /// Where the transport may write progress for ``RequestTask/progress``, from any thread.
    package var meter: ProgressMeter?
    /// Where the transport writes what the attempt cost; nil when nobody asks.
    package var metrics: MetricsRecorder?
    /// Tells the transfer to end, to pause and how urgent it is; nil when nobody may.
    package var control: CallControl?
    /// How long each stage may take.
    public var timeouts: Timeouts {
        get { settings.values.timeouts }
        set { change { $0.timeouts = newValue } }
    }
    /// The same as ``timeouts``.
    var limits: PhaseClock.Limits { settings.limits }
    /// How connections are made.
    public var connection: ConnectionOptions {
        get { settings.values.connection }
        set { change { $0.connection = newValue } }
    }
    /// Who asks, when the server challenges; nil when nobody answers it.
    public var authentication: Authentication? {
        get { settings.values.authentication }
        set { change { $0.authentication = newValue } }
    }
    /// How many decoded bytes may come of one received byte, once 8 MiB have been decoded; 500 by default.
    ///
    /// More is taken for a decompression bomb and fails the request, or what reads a stream, as a protocol error. Text
    /// seldom passes 50.
    public var maximumDecompressionRatio: Int {
        get { settings.values.maximumDecompressionRatio }
        set { change { $0.maximumDecompressionRatio = newValue } }
    }
    /// Keeps the cookies of the call's servers and sends them; nil, the default, for none.
    public var cookieJar: CookieJar? {
        get { settings.values.cookieJar }
        set { change { $0.cookieJar = newValue } }
    }
    /// Whether somebody is asked when a proxy challenges.
    package var asksAboutProxyChallenges = false
    /// Which attempt this is, from 1: retries and redirects count.
    public var attempt: Int
    /// Whether the content is wanted whole or piece by piece.
    package var delivery: Delivery
    /// The queue for progress; nil for one of the engine's own.
    ///
    /// With the queue on which the call completes, the last progress comes before the completion.
    package var progressQueue: DispatchQueue?
    /// What stays the same from request to request.
    package private(set) var settings: Settings

    /// How the content of the response reaches the caller.
    package enum Delivery: Sendable, Hashable {
        /// All at once, together with the head. More than `limit` bytes fail the request as `bodyTooLarge`.
        case buffered(limit: Int)
        /// The head first, then pieces as fast as the caller takes them.
        case streamed
        /// The same, for a caller that is always ready for more, as it writes to a file.
        case drained

        /// Whether the head comes first, and then pieces.
        var isStreamed: Bool { self == .streamed || self == .drained }
    }

    private mutating func change(_ change: (inout Settings.Values) -> Void) {
        var values = settings.values
        change(&values)
        settings = Settings(values)
    }
}

// In an extension, so that there is the compiler's own initializer too, which copies nothing.
extension TransportContext {
    /// Makes a context.
    public init(
        policy: SecurityPolicy = .default,
        deadline: ContinuousClock.Instant? = nil,
        progress: ProgressHandler? = nil,
        attempt: Int = 1,
        clientIdentity: ClientIdentity? = nil
    ) {
        var values = Settings.Values(policy: policy, policyID: policy.policyID)
        values.clientIdentity = clientIdentity
        self.init(Settings(values), end: deadline.map(Moment.init))
        self.progress = progress
        self.attempt = attempt
    }

    /// Makes a context of settings that there are already.
    package init(
        _ settings: Settings,
        end: Moment?,
        delivery: Delivery = .streamed,
        progress: ProgressHandler? = nil,
        progressQueue: DispatchQueue? = nil,
        meter: ProgressMeter? = nil,
        metrics: MetricsRecorder? = nil,
        control: CallControl? = nil
    ) {
        self.init(
            end: end,
            progress: progress,
            meter: meter,
            metrics: metrics,
            control: control,
            attempt: 1,
            delivery: delivery,
            progressQueue: progressQueue,
            settings: settings
        )
    }
}

extension TransportContext {
    /// What many requests have in common.
    ///
    /// Handing it on changes one reference count and not a dozen, and whoever has seen it once need not compare it
    /// again. It is never changed: setting a member of a context makes another one.
    package final class Settings: Sendable {
        /// The members, by the names that they have in the context.
        package struct Values: Sendable {
            package var policy: SecurityPolicy
            package var policyID: String
            package var hostPolicies: HostPolicies?
            package var trustObserver: (@Sendable (TrustReport) -> Void)?
            package var serverTrustHook: ServerTrustHook?
            package var clientIdentity: ClientIdentity?
            package var timeouts = Timeouts()
            package var connection = ConnectionOptions()
            package var authentication: Authentication?
            package var maximumDecompressionRatio = 500
            package var cookieJar: CookieJar?
            /// Header fields that are known to be such as may be sent; requests that have these need no look at them.
            var soundHeaders: HTTPHeaders?

            package init(policy: SecurityPolicy, policyID: String) {
                self.policy = policy
                self.policyID = policyID
            }
        }

        private static let numbers = Atomic<UInt64>(0)

        package let values: Values
        let limits: PhaseClock.Limits
        /// Whether the policy pins anything, which only TLS can keep.
        let isPinned: Bool
        /// Equal only for equal policies together with equal client identities and the same hook.
        let connectionID: String
        /// Whether credentials may be used in another way than a password in the clear.
        let mayBeChallenged: Bool
        /// Whether they are the same for all requests, wherever these go.
        let areForAllRequests: Bool
        /// Why nobody can pass the policy; nil when somebody may.
        let policyProblem: TrustError?
        /// No other settings of this process have it: where it is the same, so are they.
        package let number: UInt64

        package init(_ values: Values) {
            self.values = values
            limits = PhaseClock.Limits(values.timeouts)
            var connectionID = values.policyID
            if let identity = values.clientIdentity { connectionID += " client \(identity.identityID)" }
            if let hook = values.serverTrustHook { connectionID += " hook \(hook.number)" }
            self.connectionID = connectionID
            isPinned = values.policy.pinningMode != .none
            mayBeChallenged =
                !(values.authentication?.schemes.areBasicAlone ?? true)
                || !(values.connection.proxy.credentials?.schemes.areBasicAlone ?? true)
            areForAllRequests =
                values.hostPolicies == nil && values.clientIdentity == nil && values.authentication == nil
            do throws(TrustError) {
                try values.policy.checkConfiguration()
                policyProblem = nil
            } catch {
                policyProblem = error
            }
            number = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
        }
    }
}
