public import HTTPMessage

/// When a request that failed is sent again.
///
/// A manager has none unless it is given one: AFNetworking's callers do not expect a request to be sent twice. Sent
/// again are only requests that are idempotent (RFC 9110, section 9.2.2), carry an `Idempotency-Key`, or are declared
/// repeatable by ``RequestOptions/isRepeatable``; whose body can be sent again; and whose time is not over. A
/// cancelled request never is. When the attempts are used up, the last failure or response is the call's.
public struct RetryPolicy: Sendable {
    /// How often a request is sent again after the first time; the default is 2.
    public var limit: Int = 2
    /// The wait before the second attempt; the default is half a second.
    public var firstDelay: Duration = .milliseconds(500)
    /// By what the wait grows from attempt to attempt; the default is 2.
    public var multiplier: Double = 2
    /// The longest wait of the policy's own making; the default is 30 seconds.
    public var maximumDelay: Duration = .seconds(30)
    /// The part of a wait that is left to chance, 0…1, so that many clients do not come back at one moment.
    ///
    /// The default is 0.5: half of the wait is certain. 0 waits exactly.
    public var jitter: Double = 0.5
    /// The status codes after which a request is sent again: 408, 500, 502, 503, 504.
    ///
    /// 429 is repeated only when the server says when to come back.
    public var statusCodes: Set<Int> = [408, 500, 502, 503, 504]
    /// The longest `Retry-After` (RFC 9110, section 10.2.3) that is waited for; the default is a minute.
    ///
    /// A server that asks for more gets no second attempt, and the caller gets its response. With 429 and 503, and
    /// with the other ``statusCodes`` too, the field replaces the policy's own wait and has no jitter.
    public var maximumRetryAfter: Duration = .seconds(60)
    /// The most time that attempts and waits may take together; nil, the default, leaves it to the call's timeout.
    public var totalLimit: Duration?
    /// What all requests under this policy, and its copies, may repeat together; nil for no limit.
    public var budget: RetryBudget? = RetryBudget()
    /// Asked before each repetition that the rules allow, and before giving up on a request that may be repeated.
    ///
    /// It runs on Swift's own threads. The limit, the budget, the deadline and bodies that can be sent once stand
    /// above it.
    public var decision: (@Sendable (RetrySituation) async -> RetryDecision)?

    /// Makes a policy of the defaults.
    public init() {}

    /// Repeats only what failed because its connection broke, at no status code.
    public static var connectionLost: RetryPolicy {
        var policy = RetryPolicy()
        policy.statusCodes = []
        policy.decision = { situation in
            if case .connectionLost? = situation.error?.kind { .asProposed } else { .giveUp }
        }
        return policy
    }

    /// The wait before the next attempt.
    /// - Parameters:
    ///   - failures: How many attempts have failed, at least 1.
    ///   - random: A number from 0 up to 1.
    /// - Returns: The wait, never negative.
    func delay(afterFailures failures: Int, random: Double) -> Duration {
        // Seconds as a floating-point number: a duration would overflow where this becomes infinite.
        let most = maximumDelay.inSeconds
        var delay = min(firstDelay.inSeconds, most)
        for _ in 1..<max(1, failures) where delay < most { delay = min(delay * multiplier, most) }
        let part = jitter > 0 ? min(jitter, 1) : 0
        delay *= 1 - part + part * random
        // Not a number comes of a multiplier that is none.
        guard delay > 0 else { return .zero }
        return delay < Duration.longest.inSeconds ? .nanoseconds(Int64(delay * 1e9)) : .longest
    }
}

extension Duration {
    fileprivate var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// What a ``RetryPolicy/decision`` is told.
public struct RetrySituation: Sendable {
    /// The request as it was sent first.
    public var request: HTTPRequest
    /// How many attempts have failed.
    public var failures: Int
    /// Why the last attempt failed; nil when there is a response.
    public var error: RequestError?
    /// The head of the response; nil when there is an error.
    public var response: HTTPResponse.Head?
    /// The wait that the policy proposes; nil when it would give up.
    public var proposedDelay: Duration?
}

/// What a ``RetryPolicy/decision`` answers.
public enum RetryDecision: Sendable, Hashable {
    /// Do what the policy proposes.
    case asProposed
    /// Send the request again after this wait.
    case retry(after: Duration)
    /// Give the caller the failure or response as it is.
    case giveUp
}
