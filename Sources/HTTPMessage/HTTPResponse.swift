public import FoundationEssentials

/// A response whose content has been read to its end.
public struct HTTPResponse: Sendable {
    /// What came before the content.
    public struct Head: Sendable {
        /// The status code, 100…999 (RFC 9110, section 15).
        public var status: Int
        /// The header fields of the final response; those of 1xx answers and of redirects are not in it.
        public var headers: HTTPHeaders
        /// The URL that answered: the last one, after redirects.
        public var url: URL
        /// The protocol version that the server spoke.
        public var version: HTTPVersion

        /// Makes a head.
        public init(status: Int, headers: HTTPHeaders = [:], url: URL, version: HTTPVersion = .http1_1) {
            self.status = status
            self.headers = headers
            self.url = url
            self.version = version
        }

        /// The `Content-Type` as a media type; nil when the field is absent or no media type.
        public var mediaType: MediaType? {
            headers["Content-Type"].flatMap(MediaType.init)
        }
    }

    /// What came before the content.
    public var head: Head
    /// The content, decoded from `Content-Encoding`.
    public var body: Data
    /// The method of the request, where it is known: a response to HEAD has no content.
    public var requestMethod: HTTPMethod?

    /// The heads of the redirects that led here, the first one first; empty when there were none.
    public var redirects: [Head]
    /// The fields that came behind the content (RFC 9110, section 6.5); empty when there were none.
    public var trailers: HTTPHeaders
}

// In an extension, so that there is the compiler's own initializer too, which copies nothing.
extension HTTPResponse {
    /// Makes a response.
    public init(head: Head, body: Data = Data(), requestMethod: HTTPMethod? = nil) {
        self.init(
            head: head,
            body: body,
            requestMethod: requestMethod,
            redirects: [],
            trailers: HTTPHeaders()
        )
    }

    /// Makes a response of parts that are handed over.
    package init(
        head: consuming Head,
        body: consuming Data,
        requestMethod: consuming HTTPMethod?,
        trailers: consuming HTTPHeaders
    ) {
        self.init(
            head: head,
            body: body,
            requestMethod: requestMethod,
            redirects: [],
            trailers: trailers
        )
    }
}

/// The version of the protocol that a response came in.
public enum HTTPVersion: String, Sendable, Hashable {
    /// HTTP/1.0 (RFC 1945).
    case http1_0 = "HTTP/1.0"
    /// HTTP/1.1 (RFC 9112).
    case http1_1 = "HTTP/1.1"
    /// HTTP/2 (RFC 9113).
    case http2 = "HTTP/2"
    /// HTTP/3 (RFC 9114), where the system's libcurl speaks it.
    case http3 = "HTTP/3"
}
