extension JSONParser {
    /// Reads a string (RFC 8259, section 7); the position is at its opening quote.
    mutating func readString() throws(SerializationError) -> String {
        position += 1
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                defer { position += 1 }
                return try text(of: UnsafeBufferPointer(rebasing: bytes[start..<position]), at: start)
            }
            if byte == UInt8(ascii: "\\") { return try readEscapedString(from: start) }
            guard byte >= 0x20 else { throw malformed("a control character stands in a string") }
            position += 1
        }
        throw malformed("the text ends inside a string")
    }

    /// Goes on with a string whose first escape is at the current position.
    private mutating func readEscapedString(from start: Int) throws(SerializationError) -> String {
        scratch.removeAll(keepingCapacity: true)
        var runStart = start
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                scratch.append(contentsOf: bytes[runStart..<position])
                let isWhole = scratch.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }
                guard let isWhole else { throw invalidText(in: start..<position) }
                position += 1
                return isWhole
            case UInt8(ascii: "\\"):
                scratch.append(contentsOf: bytes[runStart..<position])
                try readEscape()
                runStart = position
            case 0..<0x20:
                throw malformed("a control character stands in a string")
            default:
                position += 1
            }
        }
        throw malformed("the text ends inside a string")
    }

    /// Reads one escape and appends what it stands for.
    private mutating func readEscape() throws(SerializationError) {
        let start = position
        position += 1
        guard position < bytes.count else { throw malformed("the text ends inside a string") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scratch.append(byte)
        case UInt8(ascii: "b"): scratch.append(0x08)
        case UInt8(ascii: "f"): scratch.append(0x0C)
        case UInt8(ascii: "n"): scratch.append(0x0A)
        case UInt8(ascii: "r"): scratch.append(0x0D)
        case UInt8(ascii: "t"): scratch.append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = try readEscapedScalar() else {
                position = start
                throw malformed("an escape stands for half a surrogate pair")
            }
            scratch.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        default:
            position = start
            throw malformed("there is no such escape")
        }
    }

    /// Reads the digits of a `\u` escape, with the second half if it is the first one of a surrogate pair.
    ///
    /// Nil for half a pair: it stands for no character, and replacing it would change data silently.
    private mutating func readEscapedScalar() throws(SerializationError) -> Unicode.Scalar? {
        let first = try readCodeUnit()
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { return nil }
        let second = try readCodeUnit()
        guard UTF16.isTrailSurrogate(second) else { return nil }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private mutating func readCodeUnit() throws(SerializationError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard position < bytes.count, let digit = Self.hexadecimalValue(of: bytes[position]) else {
                throw malformed("four hexadecimal digits were expected")
            }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    private static func hexadecimalValue(of byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    private func text(
        of content: UnsafeBufferPointer<UInt8>,
        at start: Int
    ) throws(SerializationError) -> String {
        guard let text = String(validating: content, as: UTF8.self) else {
            throw invalidText(in: start..<(start + content.count))
        }
        return text
    }

    /// The error for a string that is not UTF-8.
    private func invalidText(in range: Range<Int>) -> SerializationError {
        let offset = UnsafeBufferPointer(rebasing: bytes[range]).firstInvalidUTF8Offset ?? 0
        return .malformedJSON(reason: "a string is not UTF-8", offset: range.lowerBound + offset)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The offset of the first byte that is not UTF-8; nil when all are.
    var firstInvalidUTF8Offset: Int? {
        do {
            _ = try UTF8Span(validating: span)
            return nil
        } catch {
            return error.byteOffsets.lowerBound
        }
    }
}
