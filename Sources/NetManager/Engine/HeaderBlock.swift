import FoundationEssentials
import HTTPMessage

/// The header section of a response as it arrives, line by line; read when it is complete.
struct HeaderBlock {
    /// The most bytes of all header sections of one transfer: libcurl's own limit of 300 KiB, which holds for 1xx
    /// answers and trailers together.
    static let limit = 300 << 10

    private var lines: [UInt8] = []
    private var trailerLines: [UInt8] = []
    private var total = 0

    /// Counts a line of a header section or of trailers.
    /// - Returns: False when there are too many bytes.
    mutating func count(_ line: UnsafeRawBufferPointer) -> Bool {
        total += line.count
        return total <= Self.limit
    }

    /// Takes a line of a header section with its line end; a status line begins a new section.
    mutating func append(_ line: UnsafeRawBufferPointer) {
        if Self.isStatusLine(line) {
            lines.removeAll(keepingCapacity: true)
            trailerLines = []
        }
        if lines.isEmpty { lines.reserveCapacity(512) }
        lines.append(contentsOf: line.bindMemory(to: UInt8.self))
    }

    /// Takes a line of trailers with its line end.
    mutating func append(trailer line: UnsafeRawBufferPointer) {
        trailerLines.append(contentsOf: line.bindMemory(to: UInt8.self))
    }

    /// The fields behind the content.
    var trailers: HTTPHeaders { HTTPHeaders(fields: Self.fields(trailerLines, beginWithStatusLine: false)) }

    /// The status code of the section; nil when it has none.
    var status: Int? { statusLine?.status }

    /// Reads the section; nil when its status line is none or when it gives the body no length that everybody reads
    /// alike: a client and a middle box might each believe another.
    func head(url: URL) -> HTTPResponse.Head? {
        guard let statusLine else { return nil }
        let headers = HTTPHeaders(fields: Self.fields(lines, beginWithStatusLine: true))
        guard DeclaredLength(headers) != nil else { return nil }
        return HTTPResponse.Head(
            status: statusLine.status,
            headers: headers,
            url: url,
            version: statusLine.version
        )
    }

    static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count >= 5 && line[0] == 0x48 && line[1] == 0x54 && line[2] == 0x54 && line[3] == 0x50
            && line[4] == 0x2F
    }

    /// `HTTP/1.1 200 …` (RFC 9112, section 4); libcurl writes `HTTP/2 200` for later versions.
    private var statusLine: (status: Int, version: HTTPVersion)? {
        lines.withUnsafeBytes { bytes in
            let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
            guard let space = line.firstIndex(of: 0x20) else { return nil }
            let code = line[space...].drop { $0 == 0x20 }.prefix { $0 != 0x20 }
            guard code.count == 3, code.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            let status = code.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            guard status >= 100, let version = Self.version(UnsafeRawBufferPointer(rebasing: line[..<space]))
            else {
                return nil
            }
            return (status, version)
        }
    }

    private static func version(_ name: UnsafeRawBufferPointer) -> HTTPVersion? {
        if name.elementsEqual("HTTP/1.1".utf8) { return .http1_1 }
        if name.elementsEqual("HTTP/2".utf8) || name.elementsEqual("HTTP/2.0".utf8) { return .http2 }
        if name.elementsEqual("HTTP/1.0".utf8) { return .http1_0 }
        return name.elementsEqual("HTTP/3".utf8) ? .http3 : nil
    }

    /// One pass over the bytes where they lie: parsing the head was a tenth of a small request.
    private static func fields(_ lines: [UInt8], beginWithStatusLine: Bool) -> [HTTPHeaders.Field] {
        lines.withUnsafeBytes { bytes in
            var fields: [HTTPHeaders.Field] = []
            fields.reserveCapacity(12)
            var rest = bytes[...]
            var isStatusLine = beginWithStatusLine
            while !rest.isEmpty {
                let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
                let line = rest[..<end]
                rest = rest[end...].dropFirst()
                if line.isEmpty { continue }
                if isStatusLine {
                    isStatusLine = false
                } else {
                    Self.read(line, into: &fields)
                }
            }
            return fields
        }
    }

    private static func read(_ line: Slice<UnsafeRawBufferPointer>, into fields: inout [HTTPHeaders.Field]) {
        let isContinuation = line.first == 0x20 || line.first == 0x09
        if isContinuation, !fields.isEmpty {
            // obs-fold (RFC 9112, section 5.2): one space stands for the fold.
            fields[fields.count - 1].value += " " + text(trimmed(line))
        } else if let colon = line.firstIndex(of: 0x3A), colon > line.startIndex {
            let name = line[..<colon]
            guard name.allSatisfy(\.isTokenByte) else { return }
            let value = text(trimmed(line[line.index(after: colon)...]))
            let field = HTTPHeaders.Field(
                name: String(decoding: UnsafeRawBufferPointer(rebasing: name), as: UTF8.self),
                value: value
            )
            fields.append(field)
        }
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> UnsafeRawBufferPointer {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: bytes[first...last])
    }

    /// UTF-8 where it is that, else ISO-8859-1, as which fields were once defined (RFC 9110, section 5.5).
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        // Most are ASCII, which is UTF-8, and validating through the generic initializer takes ten times as long.
        if bytes.allSatisfy({ $0 < 0x80 }) {
            return String(decoding: bytes.bindMemory(to: UInt8.self), as: UTF8.self)
        }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
