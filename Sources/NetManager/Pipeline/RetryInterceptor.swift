import FoundationEssentials
import HTTPMessage

/// Sends a request again when its failure is one that passes.
struct RetryInterceptor: Interceptor {
    private let policy: RetryPolicy
    private let isRepeatable: Bool
    private let exchange: Exchange
    private let lanes: Lanes
    private let time: TimeSource
    /// When the policy's own time is over.
    private let ownDeadline: Moment?
    private let events: CallEvents?

    init(_ policy: RetryPolicy, isRepeatable: Bool, exchange: Exchange) {
        self.policy = policy
        self.isRepeatable = isRepeatable
        self.exchange = exchange
        lanes = exchange.lanes
        time = exchange.time
        events = exchange.events
        ownDeadline = policy.totalLimit.map { exchange.time.moment().advanced(by: min($0, .longest)) }
    }

    private var deadline: Moment? {
        let own = ownDeadline?.advanced(byNanoseconds: exchange.control.pausedTime)
        return [exchange.deadline, own].compactMap { $0 }.min()
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
        policy.budget?.countCall()
        var failures = 0
        let before = exchange.unrepeatableAttempts
        while true {
            let outcome: Result<StreamedResponse, any Error>
            do {
                outcome = .success(try await next(request))
            } catch {
                outcome = .failure(error)
            }
            failures += 1
            guard isRepeatable || exchange.unrepeatableAttempts == before,
                let delay = await delay(after: outcome, of: request, failures: failures)
            else { return try outcome.get() }
            if case .success(let response) = outcome { await response.body.discard() }
            try await time.sleep(delay)
        }
    }

    /// How long to wait before sending the request again; nil when it must not be sent again.
    func delay(
        after outcome: Result<StreamedResponse, any Error>,
        of request: HTTPRequest,
        failures: Int
    ) async -> Duration? {
        guard failures <= policy.limit, mayRepeat(request), !Task.isCancelled else { return nil }
        var situation = RetrySituation(request: request, failures: failures)
        switch outcome {
        case .success(let response):
            guard response.head.status >= 300 else { return nil }
            situation.response = response.head
            situation.proposedDelay = proposedDelay(after: response.head, failures: failures)
        case .failure(let error as RequestError):
            if case .cancelled = error.kind { return nil }
            situation.error = error
            if isPassing(error) { situation.proposedDelay = ownDelay(failures) }
        case .failure:
            // A cancellation, or an error of a user's own code.
            return nil
        }
        guard let delay = await decided(situation) else { return nil }
        let next = time.moment().advanced(by: min(delay, .longest))
        guard deadline.map({ next < $0 }) ?? true else { return nil }
        guard !Task.isCancelled, policy.budget?.take() ?? true else { return nil }
        events?.tell { [situation] in $0.retryScheduled(after: delay, situation: situation, of: $1) }
        return delay
    }

    private func decided(_ situation: RetrySituation) async -> Duration? {
        guard let decision = policy.decision else { return situation.proposedDelay }
        switch try? await lanes.offEngine({ await decision(situation) }) {
        case .asProposed?: return situation.proposedDelay
        case .retry(let delay)?: return max(.zero, delay)
        case .giveUp?, nil: return nil
        }
    }

    private func mayRepeat(_ request: HTTPRequest) -> Bool {
        (request.method.isIdempotent || isDeclaredRepeatable(request)) && request.body?.isReplayable ?? true
    }

    private func isDeclaredRepeatable(_ request: HTTPRequest) -> Bool {
        isRepeatable || request.headers.contains("Idempotency-Key")
    }

    /// Whether the same request may succeed later.
    private func isPassing(_ error: RequestError) -> Bool {
        switch error.kind {
        case .timedOut(.total): false
        // Only a request that must not be repeated ends so; its caller has said that it may be.
        case .outcomeUnknown: true
        default: error.isRetryable
        }
    }

    private func proposedDelay(after head: HTTPResponse.Head, failures: Int) -> Duration? {
        let wanted = head.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: time.date()) }
        guard policy.statusCodes.contains(head.status) || (head.status == 429 && wanted != nil) else {
            return nil
        }
        guard let wanted else { return ownDelay(failures) }
        return wanted <= policy.maximumRetryAfter ? wanted : nil
    }

    private func ownDelay(_ failures: Int) -> Duration {
        policy.delay(afterFailures: failures, random: time.random())
    }
}

extension Duration {
    /// A hundred years: longer waits are as good as none, and adding them to an instant would overflow.
    static let longest: Duration = .seconds(100 * 366 * 86_400)
}
