extension StringProtocol {
    /// Whether the string is a token (RFC 9110, section 5.6.2): the syntax of methods and of header names.
    package var isHTTPToken: Bool {
        !isEmpty && allBytes(satisfy: \.isTokenByte)
    }

    /// Whether the string may stand as a header value.
    ///
    /// CR, LF and NUL would end the field or the message (RFC 9110, section 5.5); other control characters
    /// are passed through, as recipients must expect them.
    package var isHTTPFieldValue: Bool {
        allBytes { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
    }

    /// Looks at the bytes where they lie: through the protocol, each one costs several calls.
    private func allBytes(satisfy predicate: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(predicate) } ?? utf8.allSatisfy(predicate)
    }

    /// Whether both are the same but for the case of A–Z.
    package func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// The string with A–Z in lower case and all else as it is.
    package var asciiLowercased: String {
        if allBytes(satisfy: { !(0x41...0x5A).contains($0) }) { return String(self) }
        return String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self)
    }

    /// The string without spaces and tabs (RFC 9110, OWS) at both ends.
    package var trimmingOptionalWhitespace: SubSequence {
        // Scalars, since a space with a combining mark behind it is another character.
        func isWhitespace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
        guard let first = unicodeScalars.firstIndex(where: { !isWhitespace($0) }),
            let last = unicodeScalars.lastIndex(where: { !isWhitespace($0) })
        else { return self[startIndex..<startIndex] }
        return self[first..<unicodeScalars.index(after: last)]
    }
}

extension String {
    /// Whether both are the same but for the case of A–Z: the same for two strings, where it is known how long they are.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    /// The byte with A–Z mapped to a–z.
    package var asciiLowercased: UInt8 {
        (0x41...0x5A).contains(self) ? self | 0x20 : self
    }

    /// Whether the byte may stand in a token (RFC 9110, section 5.6.2).
    package var isTokenByte: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
