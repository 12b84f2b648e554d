public import HTTPMessage
public import SecurityPolicy

/// Watches the life of calls, for logs, metrics and traces; it changes nothing.
///
/// Monitors stand in ``HTTPSessionManager/Configuration/eventMonitors``. A manager tells its monitors on one serial
/// queue of its own, never on the engine's thread and never while a lock is held: the events of a call come in order,
/// and a slow monitor delays the others and no request. A call that is refused before it has become a request, such
/// as one with an invalid URL, is not told. Every method has a default that does nothing.
///
/// Requests are handed over as they are, secrets included; ``RequestLog`` shows how to leave them out.
public protocol EventMonitor: Sendable {
    /// A call begins.
    func callStarted(_ call: MonitoredCall)
    /// A request is about to be handed to the transport: at first, and again for each retry and redirect.
    func attemptStarted(_ attempt: Int, request: HTTPRequest, of call: MonitoredCall)
    /// An attempt is over, its content included.
    ///
    /// Each started attempt ends once. That of a stream which its reader leaves early may end after the call.
    func attemptEnded(_ end: AttemptEnd, of call: MonitoredCall)
    /// The caller has paused a call (``RequestTask/suspend()``).
    func callSuspended(_ call: MonitoredCall)
    /// The caller lets a paused call go on (``RequestTask/resume()``).
    func callResumed(_ call: MonitoredCall)
    /// The last attempt failed, and another one comes after a wait.
    func retryScheduled(after delay: Duration, situation: RetrySituation, of call: MonitoredCall)
    /// A redirect is followed.
    func redirected(by response: HTTPResponse.Head, to request: HTTPRequest, of call: MonitoredCall)
    /// A server is not the one that the policy asks for; nothing was sent to it.
    func trustRefused(_ error: TrustError, request: HTTPRequest, of call: MonitoredCall)
    /// A call is over: each started call ends once.
    func callEnded(_ end: CallEnd, of call: MonitoredCall)
}

extension EventMonitor {
    /// Does nothing.
    public func callStarted(_ call: MonitoredCall) {}
    /// Does nothing.
    public func attemptStarted(_ attempt: Int, request: HTTPRequest, of call: MonitoredCall) {}
    /// Does nothing.
    public func attemptEnded(_ end: AttemptEnd, of call: MonitoredCall) {}
    /// Does nothing.
    public func callSuspended(_ call: MonitoredCall) {}
    /// Does nothing.
    public func callResumed(_ call: MonitoredCall) {}
    /// Does nothing.
    public func retryScheduled(after delay: Duration, situation: RetrySituation, of call: MonitoredCall) {}
    /// Does nothing.
    public func redirected(by response: HTTPResponse.Head, to request: HTTPRequest, of call: MonitoredCall) {}
    /// Does nothing.
    public func trustRefused(_ error: TrustError, request: HTTPRequest, of call: MonitoredCall) {}
    /// Does nothing.
    public func callEnded(_ end: CallEnd, of call: MonitoredCall) {}
}

/// The call that an event belongs to.
public struct MonitoredCall: Sendable {
    /// A number that no other call of the process has.
    public let id: UInt64
    /// The request as the manager made it, before any interceptor.
    public let request: HTTPRequest
    /// When the call began.
    public let start: ContinuousClock.Instant
}

/// How an attempt ended.
public struct AttemptEnd: Sendable {
    /// Which attempt, from 1.
    public var attempt: Int
    /// The head of the response, of whatever status; nil when there was none.
    public var head: HTTPResponse.Head?
    /// Why it failed; nil when it did not.
    public var error: RequestError?
    /// What it cost; nil when the transport did not get so far, or keeps no figures.
    public var metrics: TransferMetrics?
}

/// How a call ended.
public struct CallEnd: Sendable {
    /// The head of the final response; nil when there was none.
    public var head: HTTPResponse.Head?
    /// What the caller is told; nil for a success.
    public var error: RequestError?
    /// How often something was handed to the transport.
    public var attempts: Int
    /// What the attempts cost, as far as they are over and the transport keeps figures.
    public var metrics: [TransferMetrics]
    /// From the beginning of the call to here, waits included.
    public var duration: Duration
}
