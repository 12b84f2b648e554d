import FoundationEssentials
import Glibc
import HTTPMessage

/// The header section of a response as it arrives, line by line; read when it is complete.
struct HeaderBlock {
    /// The most bytes of all header sections of one transfer: libcurl's own limit of 300 KiB, which holds for 1xx
    /// answers and trailers together.
    static let limit = 300 << 10

    /// What the status line says; nil when there is none, or none that can be read.
    private var statusLine: (status: Int, version: HTTPVersion)?
    private var lines: [UInt8] = []
    /// Whether a line continues the one before (obs-fold, RFC 9112, section 5.2).
    private var isFolded = false
    private var lengths = DeclaredLength.Lines()
    private var trailerLines: [UInt8] = []
    private var total = 0
    /// Whether the section may name a coding of the content or of the message.
    private(set) var mayBeCoded = false

    /// Counts a line of a header section or of trailers.
    /// - Returns: False when there are too many bytes.
    mutating func count(_ line: UnsafeRawBufferPointer) -> Bool {
        total += line.count
        return total <= Self.limit
    }

    /// Takes a line of a header section with its line end; a status line begins a new section.
    mutating func append(_ line: UnsafeRawBufferPointer) {
        if Self.isStatusLine(line) {
            statusLine = Self.statusLine(line)
            lines.removeAll(keepingCapacity: true)
            isFolded = false
            lengths = DeclaredLength.Lines()
            mayBeCoded = false
            if !trailerLines.isEmpty { trailerLines = [] }
        } else if line.count > 2 {
            if lines.isEmpty { lines.reserveCapacity(512) }
            if line[0] == 0x20 || line[0] == 0x09 { isFolded = true }
            lengths.take(line: line)
            if Self.mayNameCoding(line) { mayBeCoded = true }
            lines.append(contentsOf: line.bindMemory(to: UInt8.self))
        }
    }

    /// Whether a line may be the field `Content-Encoding` or `Transfer-Encoding`: told by three bytes, as nearly none is.
    private static func mayNameCoding(_ line: UnsafeRawBufferPointer) -> Bool {
        let length =
            switch line[0] | 0x20 {
            case 0x63: "content-encoding".utf8.count
            case 0x74: "transfer-encoding".utf8.count
            default: 0
            }
        // The last word of both is “encoding”, behind which the value begins.
        return length > 0 && line.count > length && line[length] == 0x3A && line[length - 8] | 0x20 == 0x65
    }

    /// Whether a line is the field `Set-Cookie`.
    static func setsCookie(_ line: UnsafeRawBufferPointer) -> Bool {
        // Nearly all lines are told by two bytes.
        guard line.count > 11, line[10] == 0x3A, line[0] | 0x20 == 0x73 else { return false }
        return line.prefix(10).elementsEqual("set-cookie".utf8) { $0 | 0x20 == $1 | 0x20 }
    }

    /// Takes a line of trailers with its line end.
    mutating func append(trailer line: UnsafeRawBufferPointer) {
        trailerLines.append(contentsOf: line.bindMemory(to: UInt8.self))
    }

    /// The fields behind the content; nil where there are none.
    var trailers: HTTPHeaders? {
        guard !trailerLines.isEmpty else { return nil }
        let fields = HTTPHeaders(lines: trailerLines)
        return fields.isEmpty ? nil : fields
    }

    /// The status code of the section; nil when it has none.
    var status: Int? { statusLine?.status }

    /// Reads the section, as ``takeSection(url:)`` does, and keeps it.
    func head(url: URL) -> HTTPResponse.Head? {
        var block = self
        return block.takeSection(url: url)?.head
    }

    /// Hands the section over, and how long it says that the content is; what was handed over is here no more.
    ///
    /// Nil when its status line is none or when it gives the body no length that everybody reads alike: a client and a
    /// middle box might each believe another.
    mutating func takeSection(url: URL) -> (head: HTTPResponse.Head, length: Int64?)? {
        guard let statusLine else { return nil }
        var taken: [UInt8] = []
        swap(&taken, &lines)
        let headers = HTTPHeaders(lines: taken, isFolded: isFolded)
        // A fold belongs to the field before it.
        let length = isFolded ? DeclaredLength(headers) : DeclaredLength(lengths)
        guard let length else { return nil }
        let head = HTTPResponse.Head(
            status: statusLine.status,
            headers: headers,
            url: url,
            version: statusLine.version
        )
        return (head, length.bytes)
    }

    static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count >= 5 && line[0] == 0x48 && line[1] == 0x54 && line[2] == 0x54 && line[3] == 0x50
            && line[4] == 0x2F
    }

    /// `HTTP/1.1 200 …` (RFC 9112, section 4); libcurl writes `HTTP/2 200` for later versions.
    private static func statusLine(_ line: UnsafeRawBufferPointer) -> (status: Int, version: HTTPVersion)? {
        if let status = usualStatus(line, after: "HTTP/1.1 ") { return (status, .http1_1) }
        if let status = usualStatus(line, after: "HTTP/2 ") { return (status, .http2) }
        let end = line.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? line.endIndex
        guard let space = line[..<end].firstIndex(of: 0x20) else { return nil }
        let code = line[space..<end].drop { $0 == 0x20 }.prefix { $0 != 0x20 }
        guard code.count == 3, code.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let status = code.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard status >= 100, let version = version(UnsafeRawBufferPointer(rebasing: line[..<space])) else {
            return nil
        }
        return (status, version)
    }

    /// The status of a line as nearly all servers write it; nil for one that must be taken apart.
    private static func usualStatus(_ line: UnsafeRawBufferPointer, after start: StaticString) -> Int? {
        let first = start.utf8CodeUnitCount
        let end = first + 3
        guard line.count > end, line[end] == 0x20 || line[end] == 0x0D,
            isSame(UnsafeRawBufferPointer(rebasing: line[..<first]), start)
        else { return nil }
        var status = 0
        for index in first..<end {
            guard (0x30...0x39).contains(line[index]) else { return nil }
            status = status * 10 + Int(line[index] - 0x30)
        }
        return status >= 100 ? status : nil
    }

    private static func version(_ name: UnsafeRawBufferPointer) -> HTTPVersion? {
        if isSame(name, "HTTP/1.1") { return .http1_1 }
        if isSame(name, "HTTP/2") || isSame(name, "HTTP/2.0") { return .http2 }
        if isSame(name, "HTTP/1.0") { return .http1_0 }
        return isSame(name, "HTTP/3") ? .http3 : nil
    }

    private static func isSame(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        guard let start = bytes.baseAddress, bytes.count == text.utf8CodeUnitCount else { return false }
        return memcmp(start, text.utf8Start, bytes.count) == 0
    }
}
