public import HTTPMessage

/// Which redirects (RFC 9110, section 15.4) are followed, and how.
///
/// 303 turns every method but HEAD into GET; 301 and 302 turn POST into GET; 307 and 308, and 301 and 302 with other
/// methods, keep method and body. A body that can be sent once is not sent again: such a redirect is an error. The
/// security policy of the call judges every server on the way, and a policy with pins is never followed to plain http.
public struct RedirectPolicy: Sendable {
    /// The most redirects of one call; the default is 20.
    public var limit: Int = 20
    /// Whether an https URL may lead to an http one; false by default.
    ///
    /// Credentials are dropped even when it may.
    public var allowsDowngrade: Bool = false
    /// The header fields, in lower case, that go along when scheme, host or port change.
    ///
    /// Everything else stays behind: `Authorization`, `Cookie` and `Proxy-Authorization`, but also fields that the
    /// caller made up, such as `X-Api-Key`, as nobody can tell which of them are secrets.
    public var headersKeptAcrossOrigins: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding",
        "content-language", "content-type", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "pragma", "range", "user-agent",
    ]
    /// Asked before each redirect is followed: answers the request to send, changed or as proposed, or nil to stop.
    ///
    /// When it stops, ``HTTPSessionManager/send(_:options:)`` and `stream` deliver the 3xx response, and calls that
    /// validate fail with its status. It runs on Swift's own threads. What it throws is the call's error. The rules
    /// about http, pins and bodies are applied to its answer too.
    public var hook: (@Sendable (Redirect) async throws -> HTTPRequest?)?

    /// Makes a policy of the defaults.
    public init() {}

    /// Follows redirects by the rules above.
    public static let follow = RedirectPolicy()

    /// Follows none: the 3xx is the response.
    public static let stop = modify { _ in nil }

    /// Follows redirects as the hook says.
    public static func modify(_ hook: @escaping @Sendable (Redirect) async throws -> HTTPRequest?)
        -> RedirectPolicy
    {
        var policy = RedirectPolicy()
        policy.hook = hook
        return policy
    }
}

/// A redirect that is about to be followed.
public struct Redirect: Sendable {
    /// The response that redirects.
    public var response: HTTPResponse.Head
    /// The request that it answered.
    public var request: HTTPRequest
    /// The request that the rules would send next.
    public var proposedRequest: HTTPRequest
    /// The heads of the redirects that were followed before, the first one first.
    public var history: [HTTPResponse.Head]
}
