import HTTPMessage

/// Asks the manager's handler what to do when a server wants to know who is there.
///
/// It stands behind the redirects: each hop asks for itself, and an answer is for its origin only.
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
            let response = try await next(request)
            guard response.head.status == 401, request.body?.isReplayable ?? true,
                let origin = URLReference(request.url.absoluteString).origin,
                let answers = exchange.challenges, let failures = answers.refused(at: origin),
                failures <= Self.mostFailures,
                let credential = try await credential(for: response.head, of: request, origin, failures)
            else { return response }
            answers.answer(credential, at: origin)
            await response.body.discard()
        }
    }

    /// What to answer; nil for nothing.
    private func credential(
        for head: HTTPResponse.Head,
        of request: HTTPRequest,
        _ origin: URLReference.Origin,
        _ failures: Int
    ) async throws -> Authentication? {
        let proposed = exchange.ownCredential(for: request)
        for challenge in Self.answerable(head) {
            let question = AuthenticationChallenge(
                scheme: challenge.scheme,
                realm: challenge.parameters["realm"],
                host: origin.host,
                port: Int(origin.port),
                isSecure: origin.scheme == "https",
                failureCount: failures,
                proposedCredential: proposed,
                request: request,
                response: head
            )
            switch try await exchange.lanes.offEngine({ try await handler(question) }) {
            case .useCredential(var credential):
                credential.schemes = Self.schemes[challenge.scheme] ?? []
                return credential
            case .performDefaultHandling:
                return failures == 0 ? proposed : nil
            case .cancel:
                throw RequestError(
                    .cancelled,
                    for: request,
                    attempt: exchange.attempts,
                    response: HTTPResponse(head: head, requestMethod: request.method),
                    detail: "The challenge of the server was answered so."
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
    private static func answerable(_ head: HTTPResponse.Head) -> [ServerChallenge] {
        let list = ServerChallenge.list(head.headers[values: "WWW-Authenticate"])
        return ["negotiate", "ntlm", "digest", "basic"].compactMap { scheme in
            list.first { $0.scheme == scheme }
        }
    }
}
