import CCurl
import CCurlShims
import HTTPMessage
import SecurityPolicy

/// A transfer that libcurl ended, turned into the error that the caller gets (libcurl-errors).
struct CurlFailure {
    let code: CURLcode
    /// libcurl's own words.
    let message: String?
    /// Why the policy refused the server, when it did.
    let verdict: TrustError?
    /// What the server wanted of the client in the handshake; nil when there was none.
    let clientCertificate: ClientCertificateExchange?
    /// Why the proxy's policy refused the proxy, when it did.
    let proxyVerdict: TrustError?
    /// The proxy's status for the tunnel; 0 without one.
    let proxyAnswer: Int
    /// Whether there is a proxy between.
    let isProxied: Bool
    /// Whether TLS was to be spoken to the proxy, and the handshake with the server behind it had not begun.
    let isAtProxyTLS: Bool
    /// Whether the request was begun: then what libcurl cannot read is the server's, not the caller's.
    let hasStarted: Bool
    /// Whether the head of the response is there.
    let hasHead: Bool
    /// Whether the server may have acted on a request that must not be repeated.
    let mayHaveBeenExecuted: Bool

    func error(
        for plan: TransferPlan,
        phase: RequestError.Phase?,
        response: HTTPResponse?
    ) -> RequestError {
        plan.error(
            kind,
            response: response,
            code: Int(code.rawValue),
            detail: detail(plan),
            phase: phase
        )
    }

    /// What the kind does not say already: a verdict says more than libcurl's words about it.
    private func detail(_ plan: TransferPlan) -> String? {
        if let proxyVerdict { return "the proxy is not trusted: \(proxyVerdict)" }
        guard verdict == nil else { return nil }
        var text = message.map(Self.withoutField) ?? String(cString: curl_easy_strerror(code))
        guard let clientCertificate, clientCertificate.wasAsked, !hasHead else { return text }
        if let refusal = clientCertificate.refusal { text += ". The server's alert: \(refusal)" }
        let shown = plan.clientIdentity.map { "was \($0)" } ?? "was not given"
        text += ". The server asked for a client certificate, which \(shown)."
        return text
    }

    private var kind: RequestError.Kind {
        // 2xx opens a tunnel (RFC 9110, section 9.3.6); any other answer is the proxy's no.
        if proxyVerdict != nil || proxyAnswer >= 300 { return .proxyFailed }
        // Before the code, which depends on the version of TLS. Once a response is there, the server has accepted.
        if verdict == nil, !hasHead, clientCertificate?.wasRefused == true {
            return .clientCertificateRefused
        }
        if isProxied, isProxyOutOfReach { return .proxyFailed }
        switch code {
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
            return hasStarted ? .protocolError : .invalidURL
        case CURLE_COULDNT_RESOLVE_HOST:
            return .nameNotResolved
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED:
            return .cannotConnect
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return .proxyFailed
        case CURLE_OPERATION_TIMEDOUT:
            return .timedOut(.total)
        case CURLE_PEER_FAILED_VERIFICATION:
            return untrusted
        case CURLE_SSL_CONNECT_ERROR:
            return handshakeFailed
        case CURLE_SSL_CERTPROBLEM:
            return .invalidConfiguration(
                "the client identity cannot be used: \(message ?? "libcurl refuses it")"
            )
        case CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_NOTFOUND:
            return .tlsFailed
        case CURLE_RECV_ERROR where isRefusedByHTTP2Library, CURLE_HTTP2 where isRefusedByHTTP2Library:
            return .protocolError
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE,
            CURLE_SEND_FAIL_REWIND,
            // The server gave up the connection by GOAWAY before it looked at the request.
            CURLE_HTTP2:
            return connectionBroken
        case CURLE_HTTP2_STREAM:
            // It says by this of an answer that it is none (RFC 9113, section 8.1.1).
            return mentions("PROTOCOL_ERROR") || mentions(Self.invalidField)
                ? .protocolError : connectionBroken
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
            return .protocolError
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT:
            // The same code tells of a header line beyond libcurl's limit of 100 KiB.
            return hasStarted ? .protocolError : .cannotConnect
        default:
            return .protocolError
        }
    }

    /// Whether nghttp2 gave up: a flood of frames, or fields beyond its limits or libcurl's.
    ///
    /// In the words of libcurl 7.88 and of 8.14.
    private var isRefusedByHTTP2Library: Bool {
        // -902 is a callback of libcurl's own that gave up, for what 7.88 says in other words: the connection broke.
        mentions("nghttp2_session_mem_recv") || mentions("Too many response headers")
            || mentions("nghttp2 recv error") && !mentions("nghttp2 recv error -902")
    }

    /// What nghttp2 says of a field, and libcurl 8.14 hands on.
    private static let invalidField = "Invalid HTTP header field was received"

    /// libcurl's words without what the server sent: name and value of a field, which may be a secret.
    private static func withoutField(_ message: String) -> String {
        guard let start = message.firstRange(of: ", name: [")?.lowerBound else { return message }
        return String(message[..<start])
    }

    /// Whether the request never got past the proxy.
    private var isProxyOutOfReach: Bool {
        switch code {
        case CURLE_COULDNT_CONNECT: true
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION: isAtProxyTLS
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
            !hasStarted && (isAtProxyTLS || mentions("Proxy CONNECT aborted"))
        default: false
        }
    }

    private var untrusted: RequestError.Kind {
        if let verdict { return .untrustedServer(verdict) }
        // libcurl, unlike OpenSSL, cannot take a certificate whose issuer has no name.
        if mentions("couldn't get X509-issuer name") { return .tlsFailed }
        // The policy had accepted: then it was libcurl's own name check.
        return .untrustedServer(notVerified)
    }

    private var notVerified: TrustError {
        .untrusted(code: 0, reason: message ?? "the server's certificate does not match")
    }

    private var handshakeFailed: RequestError.Kind {
        if let verdict { return .untrustedServer(verdict) }
        return .tlsFailed
    }

    private var connectionBroken: RequestError.Kind {
        mayHaveBeenExecuted ? .outcomeUnknown : .connectionLost
    }

    private func mentions(_ words: String) -> Bool {
        message?.contains(words) == true
    }
}
