import HTTPMessage
import SecurityPolicy
import Serializers

extension RequestError {
    /// The one error type that callers see, whatever was thrown underneath.
    /// - Returns: A ``RequestError``; a `CancellationError` becomes one of kind `cancelled`.
    static func made(from error: any Error, of exchange: Exchange) -> RequestError {
        let kind: Kind
        switch error {
        case let error as RequestError: return error
        case is CancellationError: kind = .cancelled
        case let error as CertificateError: kind = .certificate(error)
        case is BodyTooLarge: kind = .bodyTooLarge
        default: kind = .custom(error)
        }
        return RequestError(kind, for: exchange.request, attempt: exchange.attempts)
    }

    /// Parameters that could not be written.
    static func unwritable(_ error: SerializationError, for request: HTTPRequest) -> RequestError {
        let kind: Kind =
            switch error {
            case .invalidParameters(let reason), .invalidRequest(let reason): .invalidRequest(reason)
            case .file(let path, let reason): .file("\(path): \(reason)")
            case .custom(let error): .custom(error)
            default: .invalidRequest("\(error)")
            }
        return RequestError(kind, for: request, underlying: error)
    }

    /// A response that was not accepted or could not be read; the response is attached.
    static func unreadable(_ error: SerializationError, _ response: HTTPResponse, of exchange: Exchange)
        -> RequestError
    {
        let kind: Kind
        var cause: SerializationError?
        switch error {
        case .unacceptableStatus(let status, let underlying):
            kind = .unacceptableStatus(status)
            cause = underlying
        case .unacceptableContentType(let type, let underlying):
            kind = .unacceptableContentType(type)
            cause = underlying
        default:
            kind = .undecodable(error)
        }
        var details = cause.map { ["Besides: \($0)"] } ?? []
        if (400..<500).contains(response.head.status), exchange.lacksClientCertificate {
            details.append(
                "The server asked for a client certificate, which was not given: set clientIdentity."
            )
        }
        return RequestError(
            kind,
            for: exchange.request,
            attempt: exchange.attempts,
            response: response,
            detail: details.isEmpty ? nil : details.joined(separator: " "),
            underlying: cause
        )
    }
}
