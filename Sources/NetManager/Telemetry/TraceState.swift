/// The rules for the field `tracestate` (W3C Trace Context, section 3.3).
enum TraceState {
    /// Whether a value keeps to the rules: at most 32 members `key=value`, no key twice, at most 512 characters.
    static func isValid(_ text: String) -> Bool {
        guard text.utf8.count <= 512 else { return false }
        var keys: Set<String> = []
        var count = 0
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let member = trimmed(Array(part.utf8))
            // Empty members are allowed, and are none.
            if member.isEmpty { continue }
            count += 1
            guard count <= 32, let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return false }
            let key = member[..<equals]
            let value = member[(equals + 1)...]
            guard isKey(key), isValue(value), keys.insert(String(decoding: key, as: UTF8.self)).inserted
            else {
                return false
            }
        }
        return true
    }

    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while let first = rest.first, first == 0x20 || first == 0x09 { rest.removeFirst() }
        while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
        return rest
    }

    /// A lower-case letter or digit, then letters, digits and `_-*/`, with one `@` before a system's name.
    private static func isKey(_ key: ArraySlice<UInt8>) -> Bool {
        guard let first = key.first, key.count <= 256, isLetter(first) || isDigit(first) else { return false }
        let parts = key.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count <= 2 else { return false }
        if parts.count == 2 {
            guard parts[0].count <= 241, parts[1].count <= 14, parts[1].first.map(isLetter) == true else {
                return false
            }
        } else if !isLetter(first) {
            return false
        }
        return key.allSatisfy { isLetter($0) || isDigit($0) || "_-*/@".utf8.contains($0) }
    }

    /// Printable ASCII without comma and equals sign, and no blank at its end.
    private static func isValue(_ value: ArraySlice<UInt8>) -> Bool {
        guard let last = value.last, value.count <= 256, last != 0x20 else { return false }
        return value.allSatisfy { (0x20...0x7E).contains($0) && !",=".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
