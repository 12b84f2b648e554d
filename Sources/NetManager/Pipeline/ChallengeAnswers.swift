import Locks

/// What a call's challenges were answered with, by origin, and how often that was refused.
final class ChallengeAnswers: Sendable {
    private struct Answer {
        var credential: Authentication?
        var failures = 0
    }

    /// The one proxy that a call goes through.
    private let proxy = Guarded(Answer())
    private let answers = Guarded<[URLReference.Origin: Answer]>([:])

    /// What requests to an origin carry; nil for nothing.
    func credential(at origin: URLReference.Origin) -> Authentication? {
        answers.withLock { $0[origin]?.credential }
    }

    /// A request was refused.
    /// - Returns: How often credentials were, this time included.
    func refused(at origin: URLReference.Origin) -> Int? {
        answers.withLock { answers in
            guard answers[origin]?.credential != nil else { return answers[origin]?.failures ?? 0 }
            answers[origin]?.failures += 1
            return answers[origin]?.failures
        }
    }

    /// The next requests to an origin carry this.
    func answer(_ credential: Authentication, at origin: URLReference.Origin) {
        answers.withLock { $0[origin, default: Answer()].credential = credential }
    }

    /// What the proxy is told; nil for what is configured.
    var credentialForProxy: Authentication? { proxy.withLock { $0.credential } }

    /// The proxy refused a request.
    /// - Parameter hadCredentials: Whether it had been told who asks.
    /// - Returns: How often credentials were refused, this time included.
    func refusedByProxy(hadCredentials: Bool) -> Int {
        proxy.withLock { proxy in
            if hadCredentials { proxy.failures += 1 }
            return proxy.failures
        }
    }

    /// The proxy is told this from now on.
    func answerProxy(_ credential: Authentication) {
        proxy.withLock { $0.credential = credential }
    }
}
