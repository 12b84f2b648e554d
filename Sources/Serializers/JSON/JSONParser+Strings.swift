extension JSONParser {
    /// Reads a string (RFC 8259, section 7); the position is at its opening quote.
    mutating func readString() throws(SerializationError) -> String {
        position += 1
        let start = position
        skipPlainCharacters()
        guard position < bytes.count else { throw malformed("the text ends inside a string") }
        switch bytes[position] {
        case UInt8(ascii: "\""):
            defer { position += 1 }
            return try text(of: UnsafeBufferPointer(rebasing: bytes[start..<position]), from: start)
        case UInt8(ascii: "\\"):
            return try readEscapedString(from: start)
        default:
            throw malformed("a control character stands in a string")
        }
    }

    /// Moves to the next quote, backslash or control character, or to the end.
    private mutating func skipPlainCharacters() {
        // Eight bytes at a time. A byte's high bit is set where it is below 0x20, or where the quote or the
        // backslash cancels it to zero; carries may set more, never fewer, and the loop below looks closer.
        let ones: UInt64 = 0x0101_0101_0101_0101
        while bytes.count - position >= 8 {
            let word = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let quote = word ^ ones &* UInt64(UInt8(ascii: "\""))
            let backslash = word ^ ones &* UInt64(UInt8(ascii: "\\"))
            let control = (word &- ones &* 0x20) & ~word
            let special = control | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
            guard special & ones << 7 == 0 else { break }
            position += 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { return }
            position += 1
        }
    }

    /// Goes on with a string whose first escape is at the current position.
    private mutating func readEscapedString(from start: Int) throws(SerializationError) -> String {
        scratch.removeAll(keepingCapacity: true)
        var runStart = start
        while position < bytes.count {
            scratch.append(contentsOf: bytes[runStart..<position])
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let text = scratch.withUnsafeBufferPointer(String.init(validUTF8:))
                guard let text else { throw invalidText(in: start..<position) }
                position += 1
                return text
            case UInt8(ascii: "\\"):
                try readEscape()
            default:
                throw malformed("a control character stands in a string")
            }
            runStart = position
            skipPlainCharacters()
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
        from start: Int
    ) throws(SerializationError) -> String {
        guard let text = String(validUTF8: content) else {
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

extension String {
    /// Makes a string of bytes; nil when they are not UTF-8.
    ///
    /// The standard library's `init(validating:as:)` does the same, but is not specialized: it takes three times as
    /// long for a short string.
    init?(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
        guard let content = try? UTF8Span(validating: bytes.span) else { return nil }
        self.init(copying: content)
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
