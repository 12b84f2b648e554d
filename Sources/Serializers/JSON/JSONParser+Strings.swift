extension JSONParser {
    /// Reads a string (RFC 8259, section 7); the position is at its opening quote.
    mutating func readString() throws(SerializationError) -> String {
        position += 1
        let start = position
        let isASCII = skipPlainCharacters()
        guard position < bytes.count else { throw malformed("the text ends inside a string") }
        switch bytes[position] {
        case UInt8(ascii: "\""):
            defer { position += 1 }
            return String(
                checkedUTF8: UnsafeBufferPointer(rebasing: bytes[start..<position]),
                isASCII: isASCII
            )
        case UInt8(ascii: "\\"):
            return try readEscapedString(from: start)
        default:
            throw unexpectedInString()
        }
    }

    /// Moves over characters that stand for themselves: to the next quote, backslash, control character or byte
    /// that is not UTF-8, or to the end.
    /// - Returns: Whether all of them are ASCII.
    @inline(__always)
    private mutating func skipPlainCharacters() -> Bool {
        var isASCII = true
        while true {
            skipASCII()
            guard position < bytes.count, bytes[position] >= 0x80 else { return isASCII }
            isASCII = false
            repeat {
                let length = bytes.lengthOfUTF8Scalar(at: position)
                guard length > 0 else { return false }
                position += length
            } while position < bytes.count && bytes[position] >= 0x80
        }
    }

    /// Moves to the next quote, backslash, control character or byte above ASCII, or to the end.
    @inline(__always)
    private mutating func skipASCII() {
        // Sixteen bytes at a time, then the place among them.
        while bytes.count - position >= 16 {
            let first = Self.special(in: word(at: position))
            let second = Self.special(in: word(at: position + 8))
            guard first | second == 0 else {
                position +=
                    first != 0 ? first.trailingZeroBitCount >> 3 : 8 + second.trailingZeroBitCount >> 3
                return
            }
            position += 16
        }
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 || byte >= 0x80 {
                return
            }
            position += 1
        }
    }

    /// The high bits of eight bytes that are quotes, backslashes, control characters or above ASCII.
    ///
    /// The bit is set where it is so already, where the byte is below 0x20, or where the quote or the backslash
    /// cancels it to zero. Borrowing may set more behind the first one that is right, never before it.
    @inline(__always)
    private static func special(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let backslash = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        return (word | (word &- ones &* 0x20) | (quote &- ones) | (backslash &- ones)) & ones << 7
    }

    /// Goes on with a string whose first escape is at the current position.
    private mutating func readEscapedString(from start: Int) throws(SerializationError) -> String {
        scratch.removeAll(keepingCapacity: true)
        var runStart = start
        while position < bytes.count {
            scratch.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[runStart..<position]))
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                // Whole characters and the encodings of scalars make UTF-8 again.
                return scratch.withUnsafeBufferPointer { String(checkedUTF8: $0, isASCII: false) }
            case UInt8(ascii: "\\"):
                try readEscape()
            default:
                throw unexpectedInString()
            }
            runStart = position
            _ = skipPlainCharacters()
        }
        throw malformed("the text ends inside a string")
    }

    /// The error for a byte that neither ends a string nor can stand in one.
    private func unexpectedInString() -> SerializationError {
        malformed(
            bytes[position] < 0x20 ? "a control character stands in a string" : "a string is not UTF-8"
        )
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
}

extension String {
    /// Makes a string of bytes that are known to be UTF-8.
    /// - Parameters:
    ///   - bytes: The bytes. Nothing checks them again.
    ///   - isASCII: Whether they are known to be ASCII; false when that is not known.
    init(checkedUTF8 bytes: UnsafeBufferPointer<UInt8>, isASCII: Bool) {
        self.init(copying: UTF8Span(unchecked: bytes.span, isKnownASCII: isASCII))
    }
}
