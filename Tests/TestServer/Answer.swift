public import FoundationEssentials
public import HTTPMessage

/// What a ``TestServer`` sends for a request: a well-formed response, or a script of bytes and events.
public struct Answer: Sendable {
    /// The status code.
    public var status = 200
    /// The reason phrase; nil gives the usual one.
    public var reason: String?
    /// The header fields, in order; the framing adds its own unless they are here.
    public var headers = HTTPHeaders()
    /// The body.
    public var body = Data()
    /// The length of the body when ``body`` shall be repeated up to it; nil sends it once.
    public var repeatedLength: Int?
    /// How the end of the body is told.
    public var framing = Framing.length
    /// Fields behind a chunked body.
    public var trailers = HTTPHeaders()
    /// Whether the connection is closed behind the answer, with `Connection: close`.
    public var closesConnection = false
    /// The head waits for this gate.
    public var headGate: Gate?
    /// The body waits for this gate, the head does not.
    public var bodyGate: Gate?
    /// Steps to do instead of all the rest.
    public var script: [Step]?

    /// Makes an answer with a status and no body.
    public init(status: Int = 200) {
        self.status = status
    }

    /// How the end of a body is told (RFC 9112, section 6).
    public enum Framing: Sendable, Hashable {
        /// By Content-Length; left out where a response has none (1xx, 204, 304).
        case length
        /// By chunks of at most so many bytes.
        case chunked(Int)
        /// By closing the connection.
        case close
        /// Nothing is added: the headers are as they are.
        case asWritten
    }
}

extension Answer {
    /// Text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> Self {
        .data(Data(text.utf8), type: "text/plain; charset=utf-8", status: status)
    }

    /// A JSON text, sent as it is written.
    public static func json(_ text: String, status: Int = 200) -> Self {
        .data(Data(text.utf8), type: "application/json", status: status)
    }

    /// Bytes of a media type; nil leaves the type out.
    public static func data(_ bytes: Data, type: String? = nil, status: Int = 200) -> Self {
        var answer = Self(status: status)
        answer.body = bytes
        answer.headers["Content-Type"] = type
        return answer
    }

    /// A body of a length that is made while it is sent: the alphabet, over and over.
    public static func bytes(_ count: Int) -> Self {
        var answer = data(alphabets)
        answer.headers["Content-Type"] = "application/octet-stream"
        answer.repeatedLength = count
        return answer
    }

    /// Whole alphabets, near the 64 KiB that a write should have.
    ///
    /// Made once. Under the thread sanitizer Swift's runtime takes a lock for nearly each element of a generic sequence in a
    /// debug build, and many threads that make bytes for answers one by one stand in a row for minutes.
    private static let alphabets = Data((0..<2_500).flatMap { _ in UInt8(ascii: "a")...UInt8(ascii: "z") })

    /// A status without a body.
    public static func status(_ status: Int) -> Self {
        Self(status: status)
    }

    /// A redirect; 302 unless said otherwise.
    public static func redirect(to location: String, status: Int = 302) -> Self {
        Self(status: status).header("Location", location)
    }

    /// Bytes that are compressed already, with their coding, as `gzip`.
    public static func encoded(_ coding: String, _ bytes: Data, type: String? = nil) -> Self {
        data(bytes, type: type).header("Content-Encoding", coding)
    }

    /// Bytes as they are instead of a response, then the end of the connection.
    public static func raw(_ text: String) -> Self {
        .script([.send(text), .close])
    }

    /// Bytes as they are instead of a response, then the end of the connection.
    public static func raw(_ bytes: Data) -> Self {
        .script([.sendData(bytes), .close])
    }

    /// Steps instead of a response.
    ///
    /// Behind the last step the connection waits for the next request; let the last one be a close where the
    /// client must not send one.
    public static func script(_ steps: [Step]) -> Self {
        var answer = Self()
        answer.script = steps
        return answer
    }
}

extension Answer {
    /// A copy with one more header field.
    public func header(_ name: String, _ value: String) -> Self {
        with { $0.headers.add(value, for: name) }
    }

    /// A copy that is sent in chunks of a size, with trailers behind them.
    public func chunked(_ size: Int = 4_096, trailers: HTTPHeaders = [:]) -> Self {
        with {
            $0.framing = .chunked(size)
            $0.trailers = trailers
        }
    }

    /// A copy whose first byte waits for a gate.
    public func after(_ gate: Gate) -> Self {
        with { $0.headGate = gate }
    }

    /// A copy whose head is sent at once and whose body waits for a gate.
    public func holdingBody(until gate: Gate) -> Self {
        with { $0.bodyGate = gate }
    }

    /// A copy behind which the connection is closed.
    public func closing() -> Self {
        with { $0.closesConnection = true }
    }

    /// A copy with changes.
    public func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}
