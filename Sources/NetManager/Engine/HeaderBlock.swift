import FoundationEssentials
import HTTPMessage

/// The header section of a response as it arrives, line by line; read when it is complete.
struct HeaderBlock {
    /// The most bytes of all header sections of one transfer: libcurl's own limit of 300 KiB, which holds for 1xx
    /// answers and trailers together.
    static let limit = 300 << 10

    /// What the status line says; nil when there is none, or none that can be read.
    private var statusLine: (status: Int, version: HTTPVersion)?
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
            statusLine = Self.statusLine(line)
            lines.removeAll(keepingCapacity: true)
            if !trailerLines.isEmpty { trailerLines = [] }
        } else if line.count > 2 {
            if lines.isEmpty { lines.reserveCapacity(512) }
            lines.append(contentsOf: line.bindMemory(to: UInt8.self))
        }
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

    /// Reads the section; nil when its status line is none or when it gives the body no length that everybody reads
    /// alike: a client and a middle box might each believe another.
    func head(url: URL) -> HTTPResponse.Head? {
        guard let statusLine else { return nil }
        let headers = HTTPHeaders(lines: lines)
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
    private static func statusLine(_ line: UnsafeRawBufferPointer) -> (status: Int, version: HTTPVersion)? {
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

    private static func version(_ name: UnsafeRawBufferPointer) -> HTTPVersion? {
        if name.elementsEqual("HTTP/1.1".utf8) { return .http1_1 }
        if name.elementsEqual("HTTP/2".utf8) || name.elementsEqual("HTTP/2.0".utf8) { return .http2 }
        if name.elementsEqual("HTTP/1.0".utf8) { return .http1_0 }
        return name.elementsEqual("HTTP/3".utf8) ? .http3 : nil
    }
}
