import FoundationEssentials
import HTTPMessage

extension Echo {
    /// What is known of a request, as JSON.
    static func description(of request: ReceivedRequest) -> JSONText {
        let type = request.headers["Content-Type"] ?? ""
        var form: [(name: String, value: String)] = []
        var files: [(name: String, value: String)] = []
        if type.asciiLowercased.hasPrefix("application/x-www-form-urlencoded") {
            form = FormText.pairs(request.text)
        } else if let boundary = FormText.boundary(in: type) {
            for part in FormText.parts(of: request.body, boundary: boundary) {
                if part.isFile {
                    files.append((part.name, part.text))
                } else {
                    form.append((part.name, part.text))
                }
            }
        }
        let json: JSONText = isJSON(request.body) ? .raw(request.text) : .null
        return .object([
            ("method", .string(request.method)),
            ("target", .string(request.target)),
            ("url", .string("//\(request.headers["Host"] ?? "")\(request.target)")),
            ("args", .grouped(FormText.pairs(request.query ?? ""))),
            ("headers", .grouped(request.headers.fields.map { ($0.name, $0.value) })),
            ("data", .string(request.text)),
            ("base64", .string(request.body.base64EncodedString())),
            ("form", .grouped(form)),
            ("files", .grouped(files)),
            ("json", json),
        ])
    }

    private static func isJSON(_ bytes: Data) -> Bool {
        (try? JSONDecoder().decode(AnyDocument.self, from: bytes)) != nil
    }

    /// Takes any document: only its syntax is of interest.
    private struct AnyDocument: Decodable {
        init(from decoder: any Decoder) {}
    }
}

/// Reading of forms, apart from the writing that is under test.
enum FormText {
    /// A part of a multipart body.
    struct Part {
        var name = ""
        var isFile = false
        var text = ""
    }

    /// The pairs of a query or an urlencoded form, decoded; a plus sign is a space.
    static func pairs(_ text: String) -> [(name: String, value: String)] {
        text.split(separator: "&").map { pair($0, decoding: true) }
    }

    /// One pair; without a sign of equality the value is empty.
    static func pair(_ text: Substring, decoding: Bool) -> (name: String, value: String) {
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init
        )
        let value = sides.count > 1 ? sides[1] : ""
        return decoding ? (decoded(sides[0]), decoded(value)) : (sides[0], value)
    }

    private static func decoded(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
            {
                output.append(byte)
                index += 3
            } else {
                output.append(bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// The boundary of a multipart media type.
    static func boundary(in type: String) -> String? {
        guard type.asciiLowercased.hasPrefix("multipart/"),
            let start = type.firstRange(of: "boundary=")?.upperBound
        else { return nil }
        return String(type[start...].prefix { $0 != ";" }.filter { $0 != "\"" })
    }

    /// The parts between the boundaries; broken ones are left out (RFC 7578).
    static func parts(of body: Data, boundary: String) -> [Part] {
        let bytes = [13, 10] + Array(body)
        let pieces = bytes.split(separator: Array("\r\n--\(boundary)".utf8))
        return pieces.compactMap { piece in
            guard let gap = piece.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
            let head = String(decoding: piece[..<gap.lowerBound], as: UTF8.self)
            guard let name = parameter("name", in: head) else { return nil }
            return Part(
                name: name,
                isFile: parameter("filename", in: head) != nil,
                text: String(decoding: piece[gap.upperBound...], as: UTF8.self)
            )
        }
    }

    private static func parameter(_ name: String, in head: String) -> String? {
        guard let start = head.firstRange(of: " \(name)=\"")?.upperBound else { return nil }
        return String(head[start...].prefix { $0 != "\"" })
    }
}
