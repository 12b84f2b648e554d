public import FoundationEssentials
public import HTTPMessage

/// A request as a ``TestServer`` read it.
public struct ReceivedRequest: Sendable {
    /// The method as it was written.
    public var method: String
    /// The request target as it was written: path and query, or whatever else stood there.
    public var target: String
    /// The version as it was written, as `HTTP/1.1`.
    public var version: String
    /// The header fields in order, repeated ones apart, white space around values removed.
    public var headers = HTTPHeaders()
    /// The head byte by byte, from the request line to the empty line.
    public var rawHead: Data
    /// The body without chunk framing, at most ``ServerOptions/bodyLimit`` bytes of it.
    public var body = Data()
    /// The length of the whole body.
    public var bodyLength = 0
    /// The fields behind a chunked body.
    public var trailers = HTTPHeaders()
    /// The number of the connection, from 0.
    public var connection: Int
    /// The number of the request on its connection, from 0: above 0 the connection was used again.
    public var indexOnConnection: Int

    /// Makes a request by hand, to ask a handler without a server.
    public init(method: String = "GET", target: String = "/", headers: HTTPHeaders = [:], body: Data = Data())
    {
        self.init(
            method: method,
            target: target,
            version: "HTTP/1.1",
            rawHead: Data(),
            connection: 0,
            index: 0
        )
        self.headers = headers
        self.body = body
        bodyLength = body.count
    }

    /// Begins a request with what its first line said.
    init(method: String, target: String, version: String, rawHead: Data, connection: Int, index: Int) {
        self.method = method
        self.target = target
        self.version = version
        self.rawHead = rawHead
        self.connection = connection
        indexOnConnection = index
    }

    /// The target up to the question mark, as it was written.
    public var path: String { String(target.prefix { $0 != "?" }) }
    /// The target behind the question mark, as it was written; nil without one.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }
    /// The body as UTF-8 text, repaired where it is none.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Whether the client leaves the connection open for another request (RFC 9112, section 9.3).
    var keepsConnection: Bool {
        let options = headers[values: "Connection"].joined(separator: ",").asciiLowercased
        return version == "HTTP/1.1" ? !options.contains("close") : options.contains("keep-alive")
    }
}
