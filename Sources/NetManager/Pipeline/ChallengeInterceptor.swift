import HTTPMessage

/// Asks the manager's handler what to do when a server or a proxy wants to know who is there.
///
/// It stands behind the redirects: each hop asks for itself, and an answer is for its origin only, or for the proxy.
struct ChallengeInterceptor: Interceptor {
    /// More refused answers in one call end in the refusal: a handler that repeats itself must not ask for ever.
    private static let mostFailures = 10

    private let handler: ChallengeHandler
    private let exchange: Exchange

    init(_ handler: @escaping ChallengeHandler, exchange: Exchange) {
        self.handler = handler
        self.exchange = exchange
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
        while true {
            let response: StreamedResponse
            do {
                response = try await next(request)
            } catch let error as RequestError {
                guard let asked = error.proxyChallenge, try await isAnswered(asked, of: request) else {
                    throw error
                }
                continue
            }
            guard request.body?.isReplayable ?? true else { return response }
            if let asked = response.proxyChallenge {
                guard try await isAnswered(asked, of: request) else { return response }
            } else {
                guard response.head.status == 401,
                    let origin = URLReference(request.url.absoluteString).origin,
                    let answers = exchange.challenges, let failures = answers.refused(at: origin),
                    let credential = try await credential(for: response.head, of: request, origin, failures)
                else { return response }
                answers.answer(credential, at: origin)
            }
            await response.body.discard()
        }
    }

    /// Asks about a proxy's refusal.
    /// - Returns: Whether the request is to be sent again with an answer.
    private func isAnswered(_ asked: ProxyChallenge, of request: HTTPRequest) async throws -> Bool {
        guard request.body?.isReplayable ?? true, let answers = exchange.challenges else { return false }
        let failures = answers.refusedByProxy(hadCredentials: asked.hadCredentials)
        let question = AuthenticationChallenge(
            scheme: "",
            isProxy: true,
            host: asked.host,
            port: asked.port,
            isSecure: asked.isSecure,
            failureCount: failures,
            proposedCredential: exchange.context.connection.proxy.credentials.map {
                Authentication(user: $0.user, password: $0.password, schemes: $0.schemes)
            },
            request: request,
            response: asked.head
        )
        guard let credential = try await answer(to: question, "Proxy-Authenticate") else { return false }
        answers.answerProxy(credential)
        return true
    }

    /// What to answer a server; nil for nothing.
    private func credential(
        for head: HTTPResponse.Head,
        of request: HTTPRequest,
        _ origin: URLReference.Origin,
        _ failures: Int
    ) async throws -> Authentication? {
        let question = AuthenticationChallenge(
            scheme: "",
            isProxy: false,
            host: origin.host,
            port: Int(origin.port),
            isSecure: origin.scheme == "https",
            failureCount: failures,
            proposedCredential: exchange.ownCredential(for: request),
            request: request,
            response: head
        )
        return try await answer(to: question, "WWW-Authenticate")
    }

    /// Asks the handler about each challenge of a field, until it answers one; nil for nothing.
    private func answer(
        to question: AuthenticationChallenge,
        _ field: String
    ) async throws -> Authentication? {
        guard question.failureCount <= Self.mostFailures else { return nil }
        for challenge in Self.answerable(question.response, field) {
            var question = question
            question.scheme = challenge.scheme
            question.realm = challenge.parameters["realm"]
            switch try await exchange.lanes.offEngine({ [question] in try await handler(question) }) {
            case .useCredential(var credential):
                credential.schemes = Self.schemes[challenge.scheme] ?? []
                return credential
            case .performDefaultHandling:
                return question.failureCount == 0 ? question.proposedCredential : nil
            case .cancel:
                throw RequestError(
                    .cancelled,
                    for: question.request,
                    attempt: exchange.attempts,
                    response: HTTPResponse(head: question.response, requestMethod: question.request.method),
                    detail: "The challenge of the \(question.isProxy ? "proxy" : "server") was answered so."
                )
            case .rejectProtectionSpace:
                continue
            }
        }
        return nil
    }

    private static let schemes: [String: Authentication.Schemes] = [
        "basic": .basic, "digest": .digest, "ntlm": .ntlm, "negotiate": .negotiate,
    ]

    /// The challenges that libcurl can answer, the strongest first, each scheme once.
    private static func answerable(_ head: HTTPResponse.Head, _ field: String) -> [ServerChallenge] {
        let list = ServerChallenge.list(head.headers[values: field])
        return ["negotiate", "ntlm", "digest", "basic"].compactMap { scheme in
            list.first { $0.scheme == scheme }
        }
    }
}
