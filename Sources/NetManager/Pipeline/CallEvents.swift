import Dispatch
import HTTPMessage
import Locks
import Synchronization

/// Tells the monitors of one call what happens to it.
final class CallEvents: Sendable {
    private static let lastID = Atomic<UInt64>(0)

    /// An attempt that has begun and not ended.
    private struct OpenAttempt: Sendable {
        /// The head, once it is there while the content is still to come.
        var head: HTTPResponse.Head?
        /// What the transport wrote down at the end.
        var record: (metrics: TransferMetrics, failure: RequestError?)?
    }

    private let call: MonitoredCall
    private let monitors: [any EventMonitor]
    private let queue: DispatchQueue
    private let attempts = Guarded<[Int: OpenAttempt]>([:])
    /// Whether the monitors have been told of the end.
    private let isOver = Atomic<Bool>(false)

    init(
        _ request: HTTPRequest,
        monitors: [any EventMonitor],
        queue: DispatchQueue,
        start: ContinuousClock.Instant
    ) {
        let id = CallEvents.lastID.add(1, ordering: .relaxed).newValue
        call = MonitoredCall(id: id, request: request, start: start)
        self.monitors = monitors
        self.queue = queue
    }

    func attemptStarted(_ attempt: Int, _ request: HTTPRequest) {
        attempts.withLock { $0[attempt] = OpenAttempt() }
        tell { $0.attemptStarted(attempt, request: request, of: $1) }
    }

    /// The transport has answered.
    ///
    /// An attempt whose content is still to come ends when the transport has written down what it cost.
    func attemptAnswered(_ attempt: Int, _ response: StreamedResponse) {
        let isWhole = response.body.dataInMemory != nil
        let record = attempts.withLock { attempts -> OpenAttempt? in
            guard isWhole || attempts[attempt]?.record != nil else {
                attempts[attempt]?.head = response.head
                return nil
            }
            return attempts.removeValue(forKey: attempt)
        }
        guard let record else { return }
        let failure = isWhole ? nil : record.record?.failure
        end(attempt, response.head, failure, record.record?.metrics)
    }

    func attemptFailed(_ attempt: Int, _ request: HTTPRequest, _ error: RequestError) {
        if case .untrustedServer(let reason) = error.kind {
            tell { $0.trustRefused(reason, request: request, of: $1) }
        }
        guard let open = attempts.withLock({ $0.removeValue(forKey: attempt) }) else { return }
        end(attempt, error.response?.head, error, open.record?.metrics)
    }

    /// The transport has written down what an attempt cost, on its own thread.
    func transferEnded(_ metrics: TransferMetrics, _ failure: RequestError?) {
        let head = attempts.withLock { attempts -> HTTPResponse.Head? in
            guard let head = attempts[metrics.attempt]?.head else {
                attempts[metrics.attempt]?.record = (metrics, failure)
                return nil
            }
            attempts[metrics.attempt] = nil
            return head
        }
        if let head { end(metrics.attempt, head, failure, metrics) }
    }

    private func end(
        _ attempt: Int,
        _ head: HTTPResponse.Head?,
        _ error: RequestError?,
        _ metrics: TransferMetrics?
    ) {
        let end = AttemptEnd(attempt: attempt, head: head, error: error, metrics: metrics)
        tell { $0.attemptEnded(end, of: $1) }
    }

    /// A pause began or ended; who told of it may come later than the end of the call, and then nobody hears of it.
    @Sendable func paused(begins: Bool) {
        tell { [self] monitor, call in
            guard !isOver.load(ordering: .relaxed) else { return }
            if begins { monitor.callSuspended(call) } else { monitor.callResumed(call) }
        }
    }

    /// The call is over.
    func ended(_ end: CallEnd) {
        queue.async { [self] in
            isOver.store(true, ordering: .relaxed)
            for monitor in monitors { monitor.callEnded(end, of: call) }
        }
    }

    /// Hands an event to the monitors' queue.
    func tell(_ event: @escaping @Sendable (any EventMonitor, MonitoredCall) -> Void) {
        queue.async { [call, monitors] in
            for monitor in monitors { event(monitor, call) }
        }
    }
}
