/// Writes a tree as JSON text (RFC 8259) in UTF-8.
struct JSONWriter {
    private let options: JSONValue.WritingOptions
    private(set) var bytes: [UInt8] = []

    init(_ options: JSONValue.WritingOptions) {
        self.options = options
    }

    /// Writes one value.
    /// - Parameters:
    ///   - value: The value.
    ///   - depth: How many arrays and objects are around it.
    /// - Throws: ``SerializationError/invalidParameters(_:)``.
    mutating func write(_ value: JSONValue, depth: Int = 0) throws(SerializationError) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .int(let value): append(value.description)
        case .uint(let value): append(value.description)
        case .double(let value): try write(value)
        case .string(let value): write(value)
        case .array(let elements): try write(elements, depth: depth)
        case .object(let members): try write(members, depth: depth)
        }
    }

    private mutating func write(_ value: Double) throws(SerializationError) {
        guard value.isFinite else {
            throw .invalidParameters("JSON has no form for NaN and infinite numbers")
        }
        var text = value.description
        // As JavaScript and Foundation do: peers that read whole numbers accept 1, not all accept 1.0. Minus
        // zero keeps its fraction, since -0 would be read as a whole number, which has no such value.
        if text.hasSuffix(".0"), value != 0 || value.sign == .plus { text.removeLast(2) }
        append(text)
    }

    private mutating func write(_ elements: [JSONValue], depth: Int) throws(SerializationError) {
        try checkDepth(depth)
        append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            breakLine(depth + 1)
            try write(element, depth: depth + 1)
        }
        closeLine(isEmpty: elements.isEmpty, depth: depth)
        append(UInt8(ascii: "]"))
    }

    private mutating func write(_ members: [String: JSONValue], depth: Int) throws(SerializationError) {
        try checkDepth(depth)
        append(UInt8(ascii: "{"))
        if options.contains(.sortedKeys) {
            var isFirst = true
            for (key, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                try write(key, value, isFirst: isFirst, depth: depth)
                isFirst = false
            }
        } else {
            var isFirst = true
            for (key, value) in members {
                try write(key, value, isFirst: isFirst, depth: depth)
                isFirst = false
            }
        }
        closeLine(isEmpty: members.isEmpty, depth: depth)
        append(UInt8(ascii: "}"))
    }

    private mutating func write(
        _ key: String,
        _ value: JSONValue,
        isFirst: Bool,
        depth: Int
    ) throws(SerializationError) {
        if !isFirst { append(UInt8(ascii: ",")) }
        breakLine(depth + 1)
        write(key)
        append(options.contains(.prettyPrinted) ? " : " : ":")
        try write(value, depth: depth + 1)
    }

    private func checkDepth(_ depth: Int) throws(SerializationError) {
        guard depth < JSONValue.maximumDepth else {
            throw .invalidParameters(
                "arrays and objects are nested deeper than \(JSONValue.maximumDepth) levels"
            )
        }
    }

    /// Writes a string with what must be escaped (RFC 8259, section 7) in its shortest form.
    private mutating func write(_ text: String) {
        append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { content in
            var runStart = 0
            for index in content.indices {
                let byte = content[index]
                guard
                    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                        || byte == UInt8(ascii: "/") && options.contains(.escapingSlashes)
                else { continue }
                bytes.append(contentsOf: content[runStart..<index])
                runStart = index + 1
                appendEscape(byte)
            }
            bytes.append(contentsOf: content[runStart...])
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func appendEscape(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        case 0..<0x20: append((byte < 0x10 ? "u000" : "u00") + String(byte, radix: 16))
        default: append(byte)
        }
    }

    private mutating func breakLine(_ depth: Int) {
        guard options.contains(.prettyPrinted) else { return }
        append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    /// Ends the lines of a container; an empty one holds an empty line, as Foundation prints it.
    private mutating func closeLine(isEmpty: Bool, depth: Int) {
        guard options.contains(.prettyPrinted) else { return }
        if isEmpty { append(UInt8(ascii: "\n")) }
        breakLine(depth)
    }

    private mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}
