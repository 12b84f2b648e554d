import HTTPMessage

/// The character sets that a response may choose.
///
/// The C library knows several hundred. Most are no part of the web (WHATWG Encoding Standard, section 4.2), and some
/// are there refused on purpose: in UTF-7, ISO-2022-KR or HZ harmless bytes mean markup, which whoever looked at them
/// on the way did not see. The less a converter is used, the longer its faults live. Whoever wants one of those says
/// so in the program.
enum WebCharsets {
    /// Whether the converter of this name, in lower case, may be chosen.
    static func contains(_ name: String) -> Bool {
        if others.contains(name) { return true }
        for (prefix, numbers) in families where name.hasPrefix(prefix) {
            let number = name.dropFirst(prefix.count)
            if numbers.contains(where: { number == String($0) }) { return true }
        }
        return false
    }

    private static let families: [(prefix: String, numbers: [Int])] = [
        ("iso-8859-", Array(1...16)), ("iso8859-", Array(1...16)), ("iso_8859-", Array(1...16)),
        ("windows-", [874] + Array(1250...1258)), ("cp", [866, 874, 932] + Array(1250...1258)),
        ("latin", Array(1...10)), ("l", Array(1...8)),
    ]

    private static let others: Set<String> = [
        "utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be", "gb18030", "big5-hkscs", "uhc", "euc-jp",
        "iso-2022-jp", "koi8-r", "koi8-u", "ibm866", "macintosh", "mac-cyrillic", "tis-620",
    ]
}
