import HTTPMessage

/// The steps of a request, outermost first.
struct Pipeline: Sendable {
    private let interceptors: [any Interceptor]
    /// Where the library's own steps begin; before it stand the users'.
    private let ownSteps: Int
    private let exchange: Exchange
    /// Whether the own steps are expected to wait more than once.
    ///
    /// A call that is not retried waits for its one answer, which comes straight to the caller; only a redirect, which
    /// then moves to the engine's thread by itself, makes it wait again.
    private let startsOnEngine: Bool

    /// Lists the steps: the only place that knows their order.
    ///
    /// Users' interceptors see a call once. A retry begins again with the caller's request and follows its redirects
    /// anew; the total time counts them all.
    init(_ settings: CallSettings, exchange: Exchange) {
        var list = settings.interceptors
        ownSteps = list.endIndex
        if let policy = settings.retryPolicy {
            list.append(
                RetryInterceptor(policy, isRepeatable: settings.isRepeatable, exchange: exchange)
            )
        }
        list.append(RedirectInterceptor(settings.redirectPolicy, exchange: exchange))
        interceptors = list
        startsOnEngine = settings.retryPolicy != nil
        self.exchange = exchange
    }

    /// Sends a request through all steps.
    func send(_ request: HTTPRequest) async throws -> StreamedResponse {
        try await send(request, from: interceptors.startIndex)
    }

    private func send(_ request: HTTPRequest, from index: Int) async throws -> StreamedResponse {
        guard index < interceptors.endIndex else { return try await exchange.send(request) }
        let next: Interceptor.Next = { try await send($0, from: index + 1) }
        let interceptor = interceptors[index]
        if index > ownSteps || (index == ownSteps && !startsOnEngine) {
            return try await interceptor.intercept(request, next: next)
        }
        if index == ownSteps {
            return try await exchange.lanes.onEngine { try await interceptor.intercept(request, next: next) }
        }
        return try await exchange.lanes.offEngine { try await interceptor.intercept(request, next: next) }
    }
}

/// What the steps of one call go by: the configuration, with the options of the call laid over it.
struct CallSettings: Sendable {
    var interceptors: [any Interceptor]
    var retryPolicy: RetryPolicy?
    var redirectPolicy: RedirectPolicy
    /// Whether the caller says that sending the request twice does no harm.
    var isRepeatable: Bool
}
