public import FoundationEssentials

/// A request: what is asked, of whom, with which fields and which content.
public struct HTTPRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The absolute URL, scheme `http` or `https`.
    public var url: URL
    /// The header fields.
    ///
    /// `Host`, `Content-Length` and `Transfer-Encoding` are set by the engine.
    public var headers: HTTPHeaders
    /// The content; nil for none.
    public var body: HTTPBody?
}

// In an extension, so that there is the compiler's own initializer too, which copies nothing.
extension HTTPRequest {
    /// Makes a request.
    ///
    /// Nothing is checked here; what may not be sent is refused when it is sent.
    public init(_ method: HTTPMethod = .get, url: URL, headers: HTTPHeaders = [:], body: HTTPBody? = nil) {
        self.init(method: method, url: url, headers: headers, body: body)
    }
}
