import HTTPMessage

/// A proxy's refusal that asks who is there: 407 to a request without TLS, or to a tunnel.
package struct ProxyChallenge: Sendable {
    /// The head of the refusal.
    package var head: HTTPResponse.Head
    /// The proxy's host.
    package var host: String
    /// The proxy's port.
    package var port: Int
    /// Whether the proxy is spoken to over TLS.
    package var isSecure: Bool
    /// Whether credentials were sent.
    package var hadCredentials: Bool
}
