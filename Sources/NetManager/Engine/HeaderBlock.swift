import FoundationEssentials
import HTTPMessage

/// The header section of a response as it arrives, line by line; read when it is complete.
struct HeaderBlock {
    /// The most bytes of all header sections of one transfer: libcurl's own limit of 300 KiB, which holds for 1xx
    /// answers and trailers together.
    static let limit = 300 << 10

    private var lines: [UInt8] = []
    private var total = 0

    /// Counts a line of a header section or of trailers.
    /// - Returns: False when there are too many bytes.
    mutating func count(_ line: UnsafeRawBufferPointer) -> Bool {
        total += line.count
        return total <= Self.limit
    }

    /// Takes a line of a header section with its line end; a status line begins a new section.
    mutating func append(_ line: UnsafeRawBufferPointer) {
        if Self.isStatusLine(line) { lines.removeAll(keepingCapacity: true) }
        lines.append(contentsOf: line)
    }

    /// The status code of the section; nil when it has none.
    var status: Int? { statusLine?.status }

    /// Reads the section; nil when its status line is none or when it gives the body two lengths, of which a client
    /// and a middle box might each believe another (RFC 9112, section 6.3).
    func head(url: URL) -> HTTPResponse.Head? {
        guard let statusLine else { return nil }
        let headers = HTTPHeaders(fields: fields())
        guard Set(headers[values: "Content-Length"]).count <= 1 else { return nil }
        return HTTPResponse.Head(
            status: statusLine.status,
            headers: headers,
            url: url,
            version: statusLine.version
        )
    }

    static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count >= 5 && line.prefix(5).elementsEqual("HTTP/".utf8)
    }

    /// `HTTP/1.1 200 …` (RFC 9112, section 4); libcurl writes `HTTP/2 200` for later versions.
    private var statusLine: (status: Int, version: HTTPVersion)? {
        let line = lines.prefix { $0 != 0x0A }
        let words = line.split(separator: 0x20, maxSplits: 2)
        guard words.count >= 2 else { return nil }
        let code = words[1].prefix { $0 != 0x0D }
        guard code.count == 3, let status = Int(String(decoding: code, as: UTF8.self)), status >= 100 else {
            return nil
        }
        switch String(decoding: words[0], as: UTF8.self) {
        case "HTTP/1.1": return (status, .http1_1)
        case "HTTP/1.0": return (status, .http1_0)
        case "HTTP/2", "HTTP/2.0": return (status, .http2)
        case "HTTP/3": return (status, .http3)
        default: return nil
        }
    }

    private func fields() -> [HTTPHeaders.Field] {
        var fields: [HTTPHeaders.Field] = []
        for line in lines.split(separator: 0x0A).dropFirst() {
            let isContinuation = line.first == 0x20 || line.first == 0x09
            if isContinuation, !fields.isEmpty {
                // obs-fold (RFC 9112, section 5.2): one space stands for the fold.
                fields[fields.count - 1].value += " " + Self.text(Self.trimmed(line))
            } else if let colon = line.firstIndex(of: 0x3A) {
                let name = String(decoding: line[..<colon], as: UTF8.self)
                guard name.isHTTPToken else { continue }
                let value = Self.text(Self.trimmed(line[line.index(after: colon)...]))
                fields.append(HTTPHeaders.Field(name: name, value: value))
            }
        }
        return fields
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        guard let first = bytes.firstIndex(where: { !isSpace($0) }),
            let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return [] }
        return bytes[first...last]
    }

    /// UTF-8 where it is that, else ISO-8859-1, as which fields were once defined (RFC 9110, section 5.5).
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
