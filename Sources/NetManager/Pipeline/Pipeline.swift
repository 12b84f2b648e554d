import HTTPMessage

/// The steps of a request, outermost first.
///
/// The only place that knows their order: users' interceptors, retries, redirects, challenges. Users' interceptors see a
/// call once. A retry begins again with the caller's request and follows its redirects anew; the total time counts them
/// all.
struct Pipeline: Sendable {
    private let settings: CallSettings
    private let exchange: Exchange

    init(_ settings: CallSettings, exchange: Exchange) {
        self.settings = settings
        self.exchange = exchange
    }

    /// Sends a request through all steps.
    @inline(__always)
    func send(_ request: HTTPRequest) async throws -> StreamedResponse {
        guard settings.interceptors.isEmpty else { return try await send(request, from: 0) }
        return try await sendBehindInterceptors(request)
    }

    private func send(_ request: HTTPRequest, from index: Int) async throws -> StreamedResponse {
        guard index < settings.interceptors.endIndex else { return try await sendBehindInterceptors(request) }
        let interceptor = settings.interceptors[index]
        return try await exchange.lanes.offEngine {
            try await interceptor.intercept(request) { try await send($0, from: index + 1) }
        }
    }

    /// The library's own steps.
    ///
    /// A call that is not retried waits for its one answer, which comes straight to the caller; only a redirect, which
    /// then moves to the engine's thread by itself, makes it wait again. Where it may wait more often it moves there
    /// from the beginning.
    @inline(__always)
    private func sendBehindInterceptors(_ request: HTTPRequest) async throws -> StreamedResponse {
        guard settings.isRetried else {
            return try await RedirectInterceptor(settings, exchange: exchange).send(request)
        }
        return try await sendRepeatedly(request)
    }

    private func sendRepeatedly(_ request: HTTPRequest) async throws -> StreamedResponse {
        let redirects = RedirectInterceptor(settings, exchange: exchange)
        guard let policy = settings.retryPolicy else { return try await redirects.send(request) }
        let retries = RetryInterceptor(policy, isRepeatable: settings.isRepeatable, exchange: exchange)
        return try await exchange.lanes.onEngine {
            try await retries.intercept(request) { try await redirects.send($0) }
        }
    }
}

/// What the steps of one call go by: the configuration, with the options of the call laid over it.
final class CallSettings: Sendable {
    let interceptors: [any Interceptor]
    let retryPolicy: RetryPolicy?
    /// Whether there is a retry policy.
    let isRetried: Bool
    let redirectPolicy: RedirectPolicy
    let challengeHandler: ChallengeHandler?
    /// Whether the caller says that sending the request twice does no harm.
    let isRepeatable: Bool

    init(
        interceptors: [any Interceptor],
        retryPolicy: RetryPolicy? = nil,
        redirectPolicy: RedirectPolicy,
        challengeHandler: ChallengeHandler? = nil,
        isRepeatable: Bool
    ) {
        self.interceptors = interceptors
        self.retryPolicy = retryPolicy
        isRetried = retryPolicy != nil
        self.redirectPolicy = redirectPolicy
        self.challengeHandler = challengeHandler
        self.isRepeatable = isRepeatable
    }

    /// Whether a request may be held up by something else than the transport: users' code, or a wait.
    var runsForeignCode: Bool {
        !interceptors.isEmpty || retryPolicy != nil || redirectPolicy.hook != nil || challengeHandler != nil
    }
}
