import HTTPMessage
import SecurityPolicy

extension TransportContext {
    /// Becomes the context of one request: where each host has its policy, with that of the request's own host.
    ///
    /// Redirects lead to other hosts, so this is asked before every transmission.
    /// - Throws: ``RequestError`` when the host must not be contacted because nothing says how to judge it.
    mutating func judge(_ request: HTTPRequest) throws {
        guard let hostPolicies else { return }
        guard let policy = hostPolicies.policy(for: request.url.host ?? "") else {
            throw RequestError(
                .invalidConfiguration(
                    "no policy covers the host, and every host must have one (allHostsMustBeEvaluated)"
                ),
                method: request.method,
                url: request.url.absoluteString,
                attempt: attempt
            )
        }
        self.policy = policy
    }

    /// The same as a context of its own.
    func judging(_ request: HTTPRequest) throws -> TransportContext {
        var context = self
        try context.judge(request)
        return context
    }
}
