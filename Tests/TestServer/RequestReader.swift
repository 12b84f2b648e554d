import FoundationEssentials
import HTTPMessage

/// Reads requests off a wire: head, length or chunks, trailers.
struct RequestReader {
    /// The client sent something that is no request; it is answered with this status.
    struct Malformed: Error {
        let status: Int
        let reason: String
    }

    private let wire: Wire
    private let options: ServerOptions
    private var buffer: [UInt8] = []
    private var start = 0

    init(wire: Wire, options: ServerOptions) {
        self.wire = wire
        self.options = options
    }

    /// Whether bytes of a next request are here already.
    var hasBuffered: Bool { start < buffer.count }

    /// Bytes behind the last request that are here already.
    var buffered: [UInt8] { Array(buffer[start...]) }

    /// The head of the next request; nil when the client ends before its first byte.
    mutating func head(connection: Int, index: Int) throws -> ReceivedRequest? {
        var raw = Data()
        var texts: [String] = []
        while true {
            guard let line = try line(limit: options.headLimit - raw.count, allowingEnd: raw.isEmpty) else {
                return nil
            }
            raw.append(contentsOf: line)
            raw.append(contentsOf: [13, 10])
            if line.isEmpty {
                // An empty line before a request line is forgiven (RFC 9112, section 2.2).
                if texts.isEmpty { continue }
                break
            }
            texts.append(String(decoding: line, as: UTF8.self))
        }
        let words = texts[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else {
            throw Malformed(status: 400, reason: "no request line")
        }
        var request = ReceivedRequest(
            method: String(words[0]),
            target: String(words[1]),
            version: String(words[2]),
            rawHead: raw,
            connection: connection,
            index: index
        )
        request.headers = try Self.fields(texts.dropFirst())
        return request
    }

    /// Reads the body that the head announces into the request.
    mutating func readBody(of request: inout ReceivedRequest) throws {
        let coding = request.headers["Transfer-Encoding"]
        if let coding {
            guard coding.asciiLowercased == "chunked", !request.headers.contains("Content-Length") else {
                throw Malformed(status: 400, reason: "framing that is not understood")
            }
            return try readChunks(of: &request)
        }
        guard let text = request.headers["Content-Length"] else { return }
        guard let length = Int(text), length >= 0, request.headers[values: "Content-Length"].count == 1 else {
            throw Malformed(status: 400, reason: "a length that is none")
        }
        try take(length, into: &request)
    }

    private mutating func readChunks(of request: inout ReceivedRequest) throws {
        while true {
            let head = try line(limit: 4_096, allowingEnd: false) ?? []
            let digits = String(decoding: head.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            guard let length = Int(digits, radix: 16), length >= 0 else {
                throw Malformed(status: 400, reason: "a chunk length that is none")
            }
            if length == 0 { break }
            try take(length, into: &request)
            guard try line(limit: 2, allowingEnd: false)?.isEmpty == true else {
                throw Malformed(status: 400, reason: "a chunk that is longer than its length")
            }
        }
        var texts: [String] = []
        while let line = try line(limit: options.headLimit, allowingEnd: false), !line.isEmpty {
            texts.append(String(decoding: line, as: UTF8.self))
        }
        request.trailers = try Self.fields(texts[...])
    }

    private mutating func take(_ length: Int, into request: inout ReceivedRequest) throws {
        var rest = length
        while rest > 0 {
            if !hasBuffered { guard fill() else { throw Wire.Ended() } }
            let count = min(rest, buffer.count - start)
            let kept = min(count, max(0, options.bodyLimit - request.body.count))
            request.body.append(contentsOf: buffer[start..<start + kept])
            request.bodyLength += count
            start += count
            rest -= count
        }
    }

    /// A line without its CR LF; nil at the client's end where that is allowed.
    private mutating func line(limit: Int, allowingEnd: Bool) throws -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 10) {
                let isEnded = end > start && buffer[end - 1] == 13
                guard isEnded else { throw Malformed(status: 400, reason: "a line that ends without CR") }
                defer { start = end + 1 }
                return Array(buffer[start..<end - 1])
            }
            guard buffer.count - start <= limit else { throw Malformed(status: 431, reason: "too large") }
            let unread = buffer.count - start
            guard fill() else {
                if allowingEnd, unread == 0 { return nil }
                throw Wire.Ended()
            }
            searched = start + unread
        }
    }

    /// Reads more; what was consumed is dropped first.
    private mutating func fill() -> Bool {
        buffer.removeFirst(start)
        start = 0
        // Read beside the buffer: growing it by zeros first took 20 ms for each request of a debug build.
        return withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { room in
            let count = wire.read(into: room)
            buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<max(0, count)]))
            return count > 0
        }
    }

    private static func fields(_ lines: ArraySlice<String>) throws -> HTTPHeaders {
        let fields = try lines.map { line in
            guard let colon = line.firstIndex(of: ":") else {
                throw Malformed(status: 400, reason: "a field without a colon")
            }
            let value = line[line.index(after: colon)...].trimmingOptionalWhitespace
            return HTTPHeaders.Field(name: String(line[..<colon]), value: String(value))
        }
        return HTTPHeaders(fields: fields)
    }
}
