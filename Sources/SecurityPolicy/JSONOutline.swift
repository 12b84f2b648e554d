/// The places of the keys in a JSON text, for error messages with a line in them.
///
/// The decoder reads the values; this reads only the structure, and finds what a decoder lets pass: a key that
/// occurs twice in one object.
struct JSONOutline {
    /// What is wrong with the text, and in which line.
    struct Fault: Error, Equatable {
        let line: Int
        let key: String
        let reason: String
    }

    /// The line of each value, by its path as `pathText` writes it.
    private(set) var lines: [String: Int] = [:]
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    /// Deeper nesting is no policy.
    private static let deepest = 32

    /// Reads a whole text.
    init(_ bytes: [UInt8]) throws(Fault) {
        self.bytes = bytes
        try value([], depth: 0)
        skipSpace()
        if position < bytes.count { throw fault([], "something stands behind the value") }
    }

    /// The path as a person writes it: `hosts."api.example.com".pinnedPublicKeys[1]`.
    static func pathText(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                let name = key.stringValue.contains(".") ? "\"\(key.stringValue)\"" : key.stringValue
                text += text.isEmpty ? name : "." + name
            }
        }
        return text
    }

    private func fault(_ path: [AnyKey], _ reason: String) -> Fault {
        Fault(line: line, key: JSONOutline.pathText(path), reason: reason)
    }

    private mutating func value(_ path: [AnyKey], depth: Int) throws(Fault) {
        skipSpace()
        guard depth < JSONOutline.deepest else { throw fault(path, "it is nested too deeply") }
        lines[JSONOutline.pathText(path)] = line
        switch peek {
        case UInt8(ascii: "{"): try object(path, depth: depth)
        case UInt8(ascii: "["): try array(path, depth: depth)
        case UInt8(ascii: "\""): _ = try string(path)
        case nil: throw fault(path, "the text ends where a value is expected")
        default: try word(path)
        }
    }

    private mutating func object(_ path: [AnyKey], depth: Int) throws(Fault) {
        position += 1
        var keys: Set<String> = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw fault(path, "a key in quotes is expected here") }
            let key = try string(path)
            guard keys.insert(key).inserted else {
                throw fault(path + [AnyKey(stringValue: key)], "the key occurs twice")
            }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw fault(path, "a colon is missing behind \"\(key)\"") }
            try value(path + [AnyKey(stringValue: key)], depth: depth + 1)
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw fault(path, "a comma or } is missing") }
    }

    private mutating func array(_ path: [AnyKey], depth: Int) throws(Fault) {
        position += 1
        skipSpace()
        if take(UInt8(ascii: "]")) { return }
        var index = 0
        repeat {
            try value(path + [AnyKey(intValue: index)], depth: depth + 1)
            index += 1
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw fault(path, "a comma or ] is missing") }
    }

    /// Escapes are kept as they are, since no key of a policy needs one; an escaped key is then not known.
    private mutating func string(_ path: [AnyKey]) throws(Fault) -> String {
        position += 1
        let start = position
        while let byte = peek {
            if byte == UInt8(ascii: "\"") {
                position += 1
                return String(decoding: bytes[start..<(position - 1)], as: UTF8.self)
            }
            if byte < 0x20 { break }
            position += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        throw fault(path, "a text is not closed")
    }

    private mutating func word(_ path: [AnyKey]) throws(Fault) {
        let start = position
        while let byte = peek, !" \t\r\n,]}:".utf8.contains(byte) { position += 1 }
        if position == start { throw fault(path, "a value is expected here") }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            if byte == 0x0A { line += 1 }
            position += 1
        }
    }
}
