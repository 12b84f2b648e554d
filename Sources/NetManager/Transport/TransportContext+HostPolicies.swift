import HTTPMessage
import SecurityPolicy

extension TransportContext {
    /// The context of one request: where each host has its policy, with that of the request's own host.
    ///
    /// Redirects lead to other hosts, so this is asked before every transmission.
    /// - Throws: ``RequestError`` when the host must not be contacted because nothing says how to judge it.
    func judging(_ request: HTTPRequest) throws -> TransportContext {
        guard let hostPolicies else { return self }
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
        var context = self
        context.policy = policy
        return context
    }
}
