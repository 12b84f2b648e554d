public import HTTPMessage

/// A response whose content is still to come.
public struct StreamedResponse: Sendable {
    /// The head of the final response.
    public var head: HTTPResponse.Head
    /// The content, in pieces.
    public var body: ResponseBody
    /// The heads of the redirects that led here, the first one first; empty when there were none.
    public var redirects: [HTTPResponse.Head] = []
    /// Whether the server had asked for a client certificate and the client has none.
    package var lacksClientCertificate = false
    /// What the proxy asks, where the response is the proxy's own.
    package var proxyChallenge: ProxyChallenge?

    /// Makes a response.
    public init(head: HTTPResponse.Head, body: ResponseBody) {
        self.head = head
        self.body = body
    }
}
