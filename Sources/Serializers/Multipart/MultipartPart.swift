import FoundationEssentials
import HTTPMessage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One part of a form.
struct MultipartPart: Sendable {
    /// Where the bytes of a part come from, and how many there are.
    enum Content: Sendable {
        case data(Data)
        case file(path: String, length: Int64)
        case stream(length: Int64, HTTPBody.Pieces)
    }

    let name: String
    let fileName: String?
    let mimeType: String?
    let content: Content

    var length: Int64 {
        switch content {
        case .data(let data): Int64(data.count)
        case .file(_, let length), .stream(let length, _): length
        }
    }

    var isReplayable: Bool {
        switch content {
        case .data, .file: true
        case .stream: false
        }
    }

    /// Whether the content type may stand in a header; names always may, as they are escaped.
    var hasValidType: Bool { mimeType?.isHTTPFieldValue ?? true }

    /// The header lines and the empty line behind them.
    var header: String {
        var text = "Content-Disposition: form-data; name=\"\(Self.escaped(name))\""
        if let fileName { text += "; filename=\"\(Self.escaped(fileName))\"" }
        text += "\r\n"
        if let mimeType { text += "Content-Type: \(mimeType)\r\n" }
        return text + "\r\n"
    }

    /// Whether the delimiter occurs in what is in memory, where a recipient would take it for the part's end.
    func mayHold(delimiter: String) -> Bool {
        guard case .data(let data) = content else { return false }
        return data.holds(Array(delimiter.utf8))
    }

    /// Escapes what would end the quoted string or the line (the WHATWG's HTML standard, multipart/form-data).
    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case 0x22: bytes += "%22".utf8
            case 0x0D: bytes += "%0D".utf8
            case 0x0A: bytes += "%0A".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Data {
    /// Whether the bytes occur anywhere.
    fileprivate func holds(_ needle: [UInt8]) -> Bool {
        withUnsafeBytes { haystack in
            guard let first = needle.first, var start = haystack.baseAddress else { return needle.isEmpty }
            let end = start + haystack.count
            while end - start >= needle.count,
                let found = memchr(start, Int32(first), end - start - needle.count + 1)
            {
                if memcmp(found, needle, needle.count) == 0 { return true }
                start = UnsafeRawPointer(found) + 1
            }
            return false
        }
    }
}
