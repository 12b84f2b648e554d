import FoundationEssentials
import HTTPMessage
import SecurityPolicy

extension TransportContext.Settings {
    /// Whether header fields are known to be such as may be sent.
    func knows(_ headers: HTTPHeaders) -> Bool { values.soundHeaders?.isIdentical(to: headers) == true }

    /// Whether there may be a server that the policy accepts, over https or over http.
    func canBeMet(isSecure: Bool) -> Bool { policyProblem == nil && (isSecure || !isPinned) }
}

/// What a request must be like before a byte of it is sent.
enum RequestRules {
    /// A URL that has passed the checks, so that what was read once need not be read again.
    struct CheckedURL: Sendable {
        let url: URL
        let isSecure: Bool

        /// Checks a URL.
        init(_ url: URL) throws(URLProblem) {
            self.init(url, try RequestURL.check(url))
        }

        /// Notes a URL that was made of a checked reference.
        init(_ url: URL, _ reference: URLReference) {
            self.init(url, isSecure: reference.scheme?.equalsIgnoringASCIICase("https") == true)
        }

        /// Notes a URL that was found to be well-formed.
        init(_ url: URL, isSecure: Bool) {
            self.url = url
            self.isSecure = isSecure
        }
    }

    /// Checks the method, the header fields, the URL, and that the policy can be kept.
    /// - Parameters:
    ///   - request: What is to be sent.
    ///   - settings: With the policy that the server must pass.
    ///   - isSecure: Whether the URL is one of https, where it has been checked; nil to check it.
    /// - Throws: ``RequestError`` of the kind that says what is wrong.
    static func check(
        _ request: HTTPRequest,
        settings: TransportContext.Settings,
        isSecure: Bool? = nil
    ) throws(RequestError) {
        guard request.method == .get || request.method.rawValue.isHTTPToken else {
            throw RequestError(
                .invalidRequest("The method is no token (RFC 9110, section 9.1)."),
                method: "?",
                url: request.url.absoluteString
            )
        }
        guard request.method == .get || request.method != .connect else {
            throw RequestError(.invalidRequest("CONNECT is for proxies; set a proxy instead."), for: request)
        }
        if !settings.knows(request.headers), let field = request.headers.firstInvalidField {
            // A name that is no token may be a whole smuggled request; it is not repeated.
            let reason =
                field.name.isHTTPToken
                ? "The value of the header field \(field.name) holds a line break or NUL (RFC 9110, section 5.5)."
                : "The name of a header field is no token (RFC 9110, section 5.6.2)."
            throw RequestError(.invalidRequest(reason), for: request)
        }
        let isHTTPS: Bool
        do {
            isHTTPS = if let isSecure { isSecure } else { try CheckedURL(request.url).isSecure }
        } catch {
            throw RequestError(.invalidURL, for: request, detail: error.reason)
        }
        guard isHTTPS else {
            guard !settings.isPinned else {
                throw RequestError(.invalidConfiguration(pinnedOverHTTP), for: request)
            }
            return
        }
        if let problem = settings.policyProblem {
            throw RequestError(.untrustedServer(problem), for: request)
        }
    }

    private static let pinnedOverHTTP =
        "The security policy pins certificates or keys, and plain http shows none. Use an https URL, or a policy of "
        + "mode none for this request."
}
