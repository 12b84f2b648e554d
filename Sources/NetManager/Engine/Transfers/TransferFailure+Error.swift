import HTTPMessage

extension TransferFailure {
    /// The error that the caller gets.
    func error(
        for plan: TransferPlan,
        phase: RequestError.Phase?,
        response: HTTPResponse?
    ) -> any Error {
        let (kind, detail) = kindAndDetail
        guard let kind else { return CancellationError() }
        var error = plan.error(kind, response: response, detail: detail, phase: phase)
        if case .bodyToSend = self { error.underlying = UnsendableBody() }
        return error
    }

    /// What failed, nil for a cancellation, and what else is known.
    var kindAndDetail: (kind: RequestError.Kind?, detail: String?) {
        switch self {
        case .cancelled:
            return (nil, nil)
        case .shutDown:
            return (.shutDown, nil)
        case .outOfMemory:
            return (.cannotConnect, "libcurl could not allocate a handle")
        case .noThread(let reason):
            return (.cannotConnect, "\(reason), which the transport needs for its thread")
        case .invalidURL:
            return (.invalidURL, nil)
        case .invalidConfiguration(let reason):
            return (.invalidConfiguration(reason), nil)
        case .timedOut(let phase):
            return (.timedOut(phase), nil)
        case .addressRefused(let address):
            return (
                .cannotConnect,
                "its address \(address) is private or special, which the connection options refuse"
            )
        case .pinnedWithoutTLS:
            return (
                .invalidConfiguration("a policy with pins needs an https URL: over http nobody proves a key"),
                nil
            )
        case .unsuitableTLSLibrary(let name):
            return (
                .invalidConfiguration(
                    "the system's libcurl uses \(name), not OpenSSL; install libcurl4 (the OpenSSL flavor)"
                ), nil
            )
        case .untrusted(let error):
            return (.untrustedServer(error), nil)
        case .challengeCancelled:
            return (.cancelled, "the challenge hook answered with cancel, and nothing was sent")
        case .wouldRepeat:
            return (.outcomeUnknown, "the connection broke after the request was sent; it was not sent again")
        case .bodyTooLarge:
            return (.bodyTooLarge, nil)
        case .headersTooLarge:
            return (.protocolError, "the header sections have more than \(HeaderBlock.limit) bytes")
        case .decompressionBomb:
            return (
                .protocolError,
                "the body decodes to so much more than was received that it looks like an attack"
            )
        case .undecodable(let reason):
            return (.protocolError, reason)
        case .truncatedCoding:
            return (.connectionLost, "the body ends before its content coding does")
        case .malformedHead:
            return (.protocolError, "the response has no status line, or no clear length")
        case .incompleteHead:
            return (.connectionLost, "the connection ended inside the head of the response")
        case .bodyToSend(let reason):
            return (.invalidRequest("the body could not be sent as declared: \(reason)"), nil)
        case .file(let reason):
            return (.file(reason), nil)
        case .option(let number):
            return (.invalidConfiguration("the system's libcurl does not know option \(number)"), nil)
        }
    }
}
