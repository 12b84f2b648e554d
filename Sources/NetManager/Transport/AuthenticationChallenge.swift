public import HTTPMessage

/// A refusal that asks who is there, of one scheme: a server's (401 with `WWW-Authenticate`; RFC 9110, section 11.6.1), or
/// that of an HTTP proxy (407 with `Proxy-Authenticate`; section 11.7.1).
public struct AuthenticationChallenge: Sendable {
    /// The scheme in lower case, such as `basic`, `digest`, `negotiate` or `ntlm`.
    ///
    /// Only these four can be answered with a user and a password.
    public var scheme: String
    /// Whether it is the proxy who asks, and not the server of the request.
    ///
    /// What answers it is sent to the proxy alone.
    public var isProxy: Bool
    /// What the server protects, in its own words; nil when it does not say.
    public var realm: String?
    /// The host that asks.
    public var host: String
    /// The port that asks.
    public var port: Int
    /// Whether it asks over https.
    public var isSecure: Bool
    /// How often credentials were refused in this call by this host and port; 0 when none were sent.
    public var failureCount: Int
    /// The credentials of the call or of the manager for this origin, or those of the configured proxy; nil when there
    /// are none.
    public var proposedCredential: Authentication?
    /// The request that was refused.
    public var request: HTTPRequest
    /// The head of the refusal.
    public var response: HTTPResponse.Head
}

/// What a call does about an ``AuthenticationChallenge``, in the words of `URLSession.AuthChallengeDisposition`.
public enum ChallengeDisposition: Sendable {
    /// Send the request again with these credentials, in the challenge's scheme.
    case useCredential(Authentication)
    /// Do as if nobody had been asked: send the proposed credentials if there are any that were not refused yet, else
    /// let the caller have the refusal.
    case performDefaultHandling
    /// End the call as cancelled.
    case cancel
    /// Answer the server's challenge of another scheme, if it has one; else let the caller have the refusal.
    case rejectProtectionSpace
}

/// Asked what to do about a challenge; what it throws is the call's error.
public typealias ChallengeHandler =
    @Sendable (_ challenge: AuthenticationChallenge) async throws -> ChallengeDisposition
