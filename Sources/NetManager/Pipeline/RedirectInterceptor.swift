import FoundationEssentials
import HTTPMessage
import SecurityPolicy

/// The last step before the transport: follows redirects (RFC 9110, section 15.4).
///
/// libcurl's own following is off: it would keep header fields of the caller's making across origins and ask nobody.
struct RedirectInterceptor: Sendable {
    private let settings: CallSettings
    private let exchange: Exchange
    private var policy: RedirectPolicy { settings.redirectPolicy }
    private var challenges: ChallengeInterceptor? {
        settings.challengeHandler.map { ChallengeInterceptor($0, exchange: exchange) }
    }

    init(_ settings: CallSettings, exchange: Exchange) {
        self.settings = settings
        self.exchange = exchange
    }

    /// Sends a request and whatever redirects lead to.
    @inline(__always)
    func send(_ request: HTTPRequest) async throws -> StreamedResponse {
        let response = try await transmit(request)
        guard RedirectInterceptor.isRedirect(response.head.status) else { return response }
        return try await exchange.lanes.onEngine { try await follow(response, of: request) }
    }

    /// Sends a request to one server, which may want to know who asks.
    private func transmit(_ request: HTTPRequest) async throws -> StreamedResponse {
        guard let challenges else { return try await exchange.send(request) }
        return try await exchange.lanes.onEngine {
            try await challenges.intercept(request) { try await exchange.send($0) }
        }
    }

    /// Goes where an answer leads, if it does.
    func follow(_ response: StreamedResponse, of request: HTTPRequest) async throws
        -> StreamedResponse
    {
        var response = response
        var request = request
        var history: [HTTPResponse.Head] = []
        var visited: Set<Visit> = [Visit(request)]
        while RedirectInterceptor.isRedirect(response.head.status) {
            guard let following = try await requestToFollow(response, of: request, history: history) else {
                break
            }
            history.append(response.head)
            guard history.count <= policy.limit else {
                throw failure(.tooManyRedirects, response, request, "The limit is \(policy.limit) redirects.")
            }
            // A server that sets a cookie may mean the same URL to answer differently the second time.
            guard visited.insert(Visit(following)).inserted || response.head.headers.contains("Set-Cookie")
            else {
                throw failure(.tooManyRedirects, response, request, "They lead in a circle.")
            }
            await response.body.discard()
            exchange.events?.tell { [head = response.head] in $0.redirected(by: head, to: following, of: $1) }
            request = following
            response = try await transmit(request)
        }
        response.redirects = history
        return response
    }

    /// 300, 304, 305 and 306 lead nowhere by themselves.
    static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// What makes two requests of a chain the same, so that a circle is found.
    private struct Visit: Hashable {
        let method: HTTPMethod
        let url: String
        let headers: HTTPHeaders

        init(_ request: HTTPRequest) {
            method = request.method
            url = request.url.absoluteString
            headers = request.headers
        }
    }

    /// The next request; nil when the redirect itself is the response.
    private func requestToFollow(
        _ response: StreamedResponse,
        of request: HTTPRequest,
        history: [HTTPResponse.Head]
    ) async throws -> HTTPRequest? {
        guard let location = response.head.headers["Location"] else { return nil }
        let url: URL
        do {
            url = try target(location, of: request.url)
        } catch {
            let reason = "The Location field holds no URL that can be requested. \(error.reason)"
            throw failure(.redirectRefused(reason), response, request)
        }
        var following = RedirectInterceptor.redirected(
            request,
            status: response.head.status,
            to: url,
            by: policy
        )
        if let hook = policy.hook {
            let redirect = Redirect(
                response: response.head,
                request: request,
                proposedRequest: following,
                history: history
            )
            guard let answer = try await exchange.lanes.offEngine({ try await hook(redirect) }) else {
                return nil
            }
            following = answer
        }
        try check(following, response, from: request)
        return following
    }

    /// Where the redirect leads: relative to the request's URL, with its fragment when it has none of its own
    /// (RFC 9110, section 10.2.2).
    ///
    /// User info goes along within an origin and is dropped otherwise, also when the server wrote it.
    private func target(_ location: String, of url: URL) throws(URLProblem) -> URL {
        let base = URLReference(url.absoluteString)
        var resolved = URLReference(location).resolved(against: base)
        resolved.fragment = resolved.fragment ?? base.fragment
        if let authority = resolved.authority {
            let (host, port) = resolved.hostAndPort(of: authority)
            var userInfo = ""
            if resolved.origin == base.origin, let old = base.authority, let at = old.lastIndex(of: "@") {
                userInfo = String(old[...at])
            }
            resolved.authority = userInfo + host + (port.map { ":" + $0 } ?? "")
        }
        return try RequestURL.url(resolved.text, base: nil)
    }

    /// The request that a redirect turns another one into.
    static func redirected(
        _ request: HTTPRequest,
        status: Int,
        to url: URL,
        by policy: RedirectPolicy
    ) -> HTTPRequest {
        var following = request
        following.url = url
        let becomesGet =
            switch status {
            case 303: request.method != .head && request.method != .get
            case 301, 302: request.method == .post
            default: false
            }
        if becomesGet {
            following.method = .get
            following.body = nil
            for name in describingContent { following.headers.remove(name) }
        }
        let here = URLReference(request.url.absoluteString).origin
        if here == nil || here != URLReference(url.absoluteString).origin {
            let kept = following.headers.filter {
                policy.headersKeptAcrossOrigins.contains($0.name.asciiLowercased)
            }
            following.headers = HTTPHeaders(fields: kept)
        }
        return following
    }

    /// Fields that speak of a content that is not sent any more (RFC 9110, section 15.4).
    private static let describingContent = [
        "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Range",
        "Content-Type",
        "Content-Disposition", "Digest", "Content-Digest", "Repr-Digest", "Expect", "Last-Modified",
        "Trailer",
        "Transfer-Encoding",
    ]

    private func check(
        _ following: HTTPRequest,
        _ response: StreamedResponse,
        from request: HTTPRequest
    ) throws {
        let isSecure = URLReference(following.url.absoluteString).scheme?.asciiLowercased == "https"
        let wasSecure = URLReference(request.url.absoluteString).scheme?.asciiLowercased == "https"
        // Each host may have a policy of its own: the one that the redirect leads to is judged by its own.
        let judging = try judged(response, request) { try exchange.context.judging(following) }
        if !isSecure, wasSecure, judging.policy.pinningMode == .none {
            let isPinnedHere = try exchange.context.judging(request).policy.pinningMode != .none
            if isPinnedHere || !policy.allowsDowngrade {
                let reason =
                    isPinnedHere
                    ? "It leads from a server whose certificate or key is pinned to plain http."
                    : "It leads from https to plain http. Allow it with RedirectPolicy.allowsDowngrade."
                throw failure(.redirectRefused(reason), response, request)
            }
        }
        if let body = following.body, !body.isReplayable {
            let reason = "It asks for the body again, which is a stream and can be sent once."
            var error = failure(.redirectRefused(reason), response, request)
            error.underlying = UnsendableBody()
            throw error
        }
        try judged(response, request) { try RequestRules.check(following, settings: judging.settings) }
    }

    /// Adds to an error the response that led to it.
    private func judged<T>(
        _ response: StreamedResponse,
        _ request: HTTPRequest,
        _ judge: () throws -> T
    ) throws -> T {
        do {
            return try judge()
        } catch var error as RequestError {
            error.attempt = exchange.attempts
            error.response = RedirectInterceptor.withoutBody(response, request)
            throw error
        }
    }

    private func failure(
        _ kind: RequestError.Kind,
        _ response: StreamedResponse,
        _ request: HTTPRequest,
        _ detail: String? = nil
    ) -> RequestError {
        RequestError(
            kind,
            for: request,
            attempt: exchange.attempts,
            response: RedirectInterceptor.withoutBody(response, request),
            detail: detail
        )
    }

    private static func withoutBody(_ response: StreamedResponse, _ request: HTTPRequest) -> HTTPResponse {
        HTTPResponse(
            head: response.head,
            body: response.body.dataInMemory ?? Data(),
            requestMethod: request.method
        )
    }
}
