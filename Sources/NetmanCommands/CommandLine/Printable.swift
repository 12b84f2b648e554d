/// Makes text from elsewhere harmless for a terminal, which would obey its escape sequences.
enum Printable {
    /// The text with its control characters written as `\x1B`.
    ///
    /// - Parameters:
    ///   - text: Line breaks and tabs stay.
    ///   - keepsOwnColors: Whether the sequences of ``Style`` stay, and only those.
    /// - Returns: What may be written to a terminal.
    static func text(_ text: String, keeping keepsOwnColors: Bool = false) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.first {
            if keepsOwnColors, let sequence = Style.sequence(startingAt: rest) {
                result.unicodeScalars.append(contentsOf: rest.prefix(sequence))
                rest = rest.dropFirst(sequence)
                continue
            }
            if isControl(scalar) {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\x" + (digits.count < 2 ? "0" : "") + digits
            } else {
                result.unicodeScalars.append(scalar)
            }
            rest = rest.dropFirst()
        }
        return result
    }

    /// C0 but for tab and line feed, DEL, C1, and the marks that turn the direction of text around (UAX #9).
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x2028, 0x2029: true
        default: false
        }
    }
}
