public import HTTPMessage
public import SecurityPolicy
public import Serializers

/// Why a request failed: what, where, and what to do about it.
///
/// Its text names the method, scheme, host and path, never a query, header field or body.
public struct RequestError: Error, Sendable {
    /// What failed.
    ///
    /// New kinds may come: a switch needs a default.
    @nonexhaustive
    public enum Kind: Sendable {
        /// The URL cannot be read, or its scheme is neither http nor https.
        case invalidURL
        /// The request may not be sent as it is: what is wrong with it.
        case invalidRequest(String)
        /// The manager or the options contradict themselves or the URL: what to change.
        case invalidConfiguration(String)
        /// A certificate that was named cannot be used.
        case certificate(CertificateError)
        /// The call was cancelled.
        case cancelled
        /// A time limit passed, in this phase.
        case timedOut(Phase)
        /// The host name has no address.
        case nameNotResolved
        /// No connection could be made.
        case cannotConnect
        /// The proxy refused or could not be reached.
        case proxyFailed
        /// The server is not the one that the policy asks for. Nothing of the request was sent.
        case untrustedServer(TrustError)
        /// The TLS handshake failed for another reason than trust.
        case tlsFailed
        /// The server refused the client's certificate, or asked for one that was not given.
        case clientCertificateRefused
        /// The connection broke before the response was complete.
        case connectionLost
        /// The connection broke after a request that must not be repeated may have been executed.
        case outcomeUnknown
        /// The server broke the protocol.
        case protocolError
        /// More redirects than allowed, or a loop.
        case tooManyRedirects
        /// A redirect that may not be followed: why.
        case redirectRefused(String)
        /// The status code is not accepted.
        case unacceptableStatus(Int)
        /// The content type, nil when there is none, is not accepted.
        case unacceptableContentType(String?)
        /// The body is not what the serializer reads.
        case undecodable(SerializationError)
        /// The body is larger than the limit.
        case bodyTooLarge
        /// A file could not be read or written: which, and why.
        case file(String)
        /// The manager or its transport has been shut down.
        case shutDown
        /// What an interceptor, a serializer, a body's sequence or a transport that is not the library's own threw.
        case custom(any Error)
    }

    /// The stages of a request, in order.
    public enum Phase: String, Sendable, Hashable {
        /// Waiting for a place among the connections.
        case queue
        /// Resolving the host name.
        case resolve
        /// Making the TCP connection.
        case connect
        /// The TLS handshake.
        case tls
        /// Sending the request.
        case send
        /// Waiting for the first byte of the response.
        case firstByte
        /// Waiting for more of the response.
        case idle
        /// The call as a whole.
        case total
    }

    /// What failed.
    public var kind: Kind
    /// The response, where there was one: status, header fields and as much of the body as was read.
    public var response: HTTPResponse?
    /// The request's method, and its URL without query, fragment and user info.
    public var request: (method: HTTPMethod, url: String)
    /// Which attempt failed, from 1; 0 when nothing was tried.
    public var attempt: Int
    /// libcurl's result code (libcurl-errors), where it was libcurl that failed.
    public var libcurlCode: Int?
    /// What else is known, in a sentence: libcurl's or OpenSSL's own words.
    public var detail: String?
    /// The phase in which the transfer was when it failed, where that is known.
    public var phase: Phase?
    /// What lies underneath: what else is wrong with a response whose status or content type is not accepted, or what
    /// made a request impossible to write.
    ///
    /// A `SerializationError` where it comes from a serializer of the library's. Nil where ``kind`` says it all.
    public var underlying: (any Error)?
    /// What the server showed of itself, when it was that which the policy refused; nil when it could not be read.
    public var serverTrust: ServerTrust?
    /// What the proxy asks, when it refused a tunnel.
    package var proxyChallenge: ProxyChallenge?
    /// A time limit or a broken connection: whether the same request, if it is idempotent, may succeed when it is
    /// sent again.
    public var isRetryable: Bool {
        switch kind {
        case .timedOut, .nameNotResolved, .cannotConnect, .proxyFailed, .connectionLost: true
        default: false
        }
    }

    /// Makes an error, for interceptors, transports and tests of one's own.
    /// - Parameters:
    ///   - kind: What failed.
    ///   - method: The request's method.
    ///   - url: The request's URL; user info, query and fragment are left out.
    ///   - attempt: Which attempt failed, from 1; 0 when nothing was tried.
    ///   - response: The response, where there was one.
    ///   - libcurlCode: libcurl's result code.
    ///   - detail: What else is known, in a sentence that holds no secret.
    ///   - phase: The phase in which it failed.
    ///   - underlying: What lies underneath.
    public init(
        _ kind: Kind,
        method: HTTPMethod,
        url: String,
        attempt: Int = 0,
        response: HTTPResponse? = nil,
        libcurlCode: Int? = nil,
        detail: String? = nil,
        phase: Phase? = nil,
        underlying: (any Error)? = nil
    ) {
        self.kind = kind
        request = (method, RequestError.redacted(url))
        self.attempt = attempt
        self.response = response
        self.libcurlCode = libcurlCode
        self.detail = detail
        self.phase = phase
        self.underlying = underlying
    }

    /// Makes an error about a request.
    init(
        _ kind: Kind,
        for request: HTTPRequest,
        attempt: Int = 0,
        response: HTTPResponse? = nil,
        detail: String? = nil,
        underlying: (any Error)? = nil
    ) {
        let url = request.url.absoluteString
        self.init(
            kind,
            method: request.method,
            url: url,
            attempt: attempt,
            response: response,
            detail: detail,
            underlying: underlying
        )
    }

    /// A URL without user info, query and fragment; what cannot be taken apart is named as such.
    ///
    /// Control characters, which only a text that is no URL can hold, are replaced: they would break up a log.
    package static func redacted(_ url: String) -> String {
        // Scalars: a delimiter with a combining mark behind it is another character.
        var scalars = url.unicodeScalars[...]
        if let end = scalars.firstIndex(where: { $0 == "?" || $0 == "#" }) { scalars = scalars[..<end] }
        var front = scalars[..<scalars.startIndex]
        if let colon = scalars.firstIndex(of: ":"), isSlash(scalars[scalars.index(after: colon)...].first) {
            front = scalars[...colon]
        }
        // Also after one slash, a backslash or none: what was meant as user info must not be shown.
        front = scalars[..<(scalars[front.endIndex...].firstIndex { !isSlash($0) } ?? scalars.endIndex)]
        let rest = scalars[front.endIndex...]
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        let authority = withoutSecrets(rest[..<end])
        let shown = [Substring.UnicodeScalarView(front), authority, rest[end...]].joined()
        return String(
            String.UnicodeScalarView(shown.map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : $0 })
        )
    }

    private static func isSlash(_ scalar: Unicode.Scalar?) -> Bool { scalar == "/" || scalar == "\\" }

    /// Host and port alone.
    ///
    /// A port that is no number is the beginning of a password that holds an unescaped delimiter.
    private static func withoutSecrets(_ authority: Substring.UnicodeScalarView)
        -> Substring.UnicodeScalarView
    {
        var shown = authority
        if let at = shown.lastIndex(of: "@") { shown = shown[shown.index(after: at)...] }
        let bracket = shown.lastIndex(of: "]") ?? shown.startIndex
        if let colon = shown[bracket...].firstIndex(of: ":"),
            !shown[shown.index(after: colon)...].allSatisfy({ ("0"..."9").contains($0) })
        {
            shown = shown[..<colon]
        }
        return shown
    }
}
