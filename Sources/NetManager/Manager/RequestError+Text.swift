import HTTPMessage
import SecurityPolicy
import Serializers

extension RequestError: CustomStringConvertible {
    /// What failed, where, and what to do, in a line without query, header fields and body.
    public var description: String {
        var text = "\(request.method) \(request.url) failed: \(summary)"
        var place: [String] = []
        if let phase { place.append("while in phase \(phase.rawValue)") }
        if attempt > 0 { place.append("attempt \(attempt)") }
        if let libcurlCode { place.append("libcurl code \(libcurlCode)") }
        // A text of several lines ends with pins to paste: nothing may stand behind them on their line.
        let isLong = text.contains("\n")
        if !place.isEmpty { text += (isLong ? "\n" : " ") + "(\(place.joined(separator: ", ")))" }
        text += "."
        if let detail, !detail.isEmpty { text += " \(detail)" + (detail.hasSuffix(".") ? "" : ".") }
        if let advice { text += " \(advice)" }
        return text
    }

    private var summary: String {
        switch kind {
        case .invalidURL: "the URL cannot be requested"
        case .invalidRequest(let reason): "the request may not be sent: \(RequestError.clause(reason))"
        case .invalidConfiguration(let reason):
            "the configuration is not possible: \(RequestError.clause(reason))"
        case .certificate(.notFound(let name, let searched)):
            "invalid configuration: no certificate named \(name): tried \(CertificateError.places(searched))"
        case .certificate(let error):
            "invalid configuration: a certificate cannot be used: \(RequestError.clause("\(error)"))"
        case .cancelled: "it was cancelled"
        case .timedOut(let phase): "the time was over \(phase.inWords)"
        case .nameNotResolved: "the host name has no address"
        case .cannotConnect: "no connection could be made"
        case .proxyFailed: "the proxy could not be used"
        case .untrustedServer(let error): "the server is not trusted: \(RequestError.clause("\(error)"))"
        case .tlsFailed: "the TLS handshake failed"
        case .clientCertificateRefused: "the server did not accept the client's certificate"
        case .connectionLost: "the connection broke"
        case .outcomeUnknown: "the connection broke, and the server may have acted on the request"
        case .protocolError: "the server broke the protocol"
        case .tooManyRedirects: "there were too many redirects"
        case .redirectRefused(let reason): "a redirect was refused: \(RequestError.clause(reason))"
        case .unacceptableStatus(let status): "status \(status), \(HTTPStatus.reason(of: status))"
        case .unacceptableContentType(let type): "unacceptable content type \(RequestError.printable(type))"
        case .undecodable(let error): "the response cannot be read: \(RequestError.clause("\(error)"))"
        case .bodyTooLarge: "the response is larger than allowed"
        case .file(let reason): "a file could not be used: \(RequestError.clause(reason))"
        case .shutDown: "the manager has been shut down"
        case .custom(let error): "an interceptor, serializer, body or transport threw \(type(of: error))"
        }
    }

    /// What the caller can do about it; nil where the summary says it already.
    private var advice: String? {
        switch kind {
        case .invalidURL: "Write an absolute http or https URL."
        case .certificate(.notFound): "Put the file there, or set certificateDirectories."
        case .timedOut: "Raise the timeout if the server needs longer."
        case .nameNotResolved: "Check the host's spelling and the resolver."
        case .cannotConnect: "Check that the server listens there and that no firewall is between."
        case .proxyFailed: "Check the proxy's address and credentials."
        case .untrustedServer: "Nothing of the request was sent."
        // What OpenSSL says of anything that is no TLS.
        case .tlsFailed where detail?.contains("wrong version number") == true:
            "The server seems to speak plain http on this port: check scheme and port."
        case .tlsFailed: "Check that both sides share a TLS version and a cipher."
        case .clientCertificateRefused: "Give a certificate and key that the server's authority has signed."
        case .outcomeUnknown: "Ask the server before sending it again, or declare it repeatable."
        case .tooManyRedirects: "Check the server, or raise RedirectPolicy.limit."
        case .unacceptableContentType:
            "Add the type to acceptableContentTypes if the content is what is wanted."
        case .bodyTooLarge: "Raise responseBodyLimit, or stream the response."
        case .unacceptableStatus, .undecodable: "The error's response holds what the server sent."
        default: nil
        }
    }

    /// A content type; one that is no media type is a header value like any other, and is not repeated.
    private static func printable(_ type: String?) -> String {
        type.map { MediaType($0)?.essence ?? "(malformed)" } ?? "(none)"
    }

    /// A sentence as a part of a longer one: without its full stop.
    private static func clause(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }

    /// The kind as a word of a small fixed vocabulary, for metrics: it never holds anything of the request.
    public var label: String {
        switch kind {
        case .invalidURL: "invalid_url"
        case .invalidRequest: "invalid_request"
        case .invalidConfiguration: "invalid_configuration"
        case .certificate: "certificate"
        case .cancelled: "cancelled"
        case .timedOut(let phase): "timed_out_\(phase.label)"
        case .nameNotResolved: "name_not_resolved"
        case .cannotConnect: "cannot_connect"
        case .proxyFailed: "proxy_failed"
        case .untrustedServer: "untrusted_server"
        case .tlsFailed: "tls_failed"
        case .clientCertificateRefused: "client_certificate_refused"
        case .connectionLost: "connection_lost"
        case .outcomeUnknown: "outcome_unknown"
        case .protocolError: "protocol_error"
        case .tooManyRedirects: "too_many_redirects"
        case .redirectRefused: "redirect_refused"
        case .unacceptableStatus(let status):
            "status_\((1...9).contains(status / 100) ? "\(status / 100)xx" : "other")"
        case .unacceptableContentType: "unacceptable_content_type"
        case .undecodable: "undecodable"
        case .bodyTooLarge: "body_too_large"
        case .file: "file"
        case .shutDown: "shut_down"
        case .custom: "custom"
        }
    }
}

extension RequestError.Phase {
    fileprivate var inWords: String {
        switch self {
        case .queue: "while waiting for a connection to be free"
        case .resolve: "while resolving the host name"
        case .connect: "while connecting"
        case .tls: "during the TLS handshake"
        case .send: "while sending"
        case .firstByte: "before the response began"
        case .idle: "while waiting for more of the response"
        case .total: "for the call as a whole"
        }
    }

    fileprivate var label: String {
        self == .firstByte ? "first_byte" : rawValue
    }
}
