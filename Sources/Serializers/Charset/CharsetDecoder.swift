import FoundationEssentials
import HTTPMessage

/// Reads bytes as text of one character set.
struct CharsetDecoder: Sendable {
    /// The name as it was given, or found: for errors.
    let label: String
    /// The converter's name; nil for UTF-8, which needs none.
    private let converterName: String?
    /// How many bytes a code unit has: what is skipped when one is replaced.
    private let unitSize: Int
    /// The byte order mark to skip.
    private let mark: [UInt8]

    /// Chooses the decoder for a body.
    /// - Parameters:
    ///   - label: The name of the character set; nil looks for a byte order mark and falls back to UTF-8.
    ///   - data: The body.
    ///   - isChosen: Whether the program gave the name. What a response says is limited to ``WebCharsets``.
    /// - Throws: ``SerializationError/unknownCharset(_:)``.
    init(label: String?, detecting data: Data, isChosen: Bool = false) throws(SerializationError) {
        let found = ByteOrderMark(at: data)
        guard let label else {
            let name = found?.charset ?? "utf-8"
            self.init(name, name, found)
            return
        }
        let name = Self.converterName(of: label, mark: found)
        guard name == "utf-8" || (isChosen || WebCharsets.contains(name)) && IconvConverter.knows(name) else {
            // Only what can be a name is repeated: a header value may hold anything.
            throw .unknownCharset(label.isHTTPToken ? label : "(not a name)")
        }
        self.init(label, name, ByteOrderMark(of: name, at: data))
    }

    private init(_ label: String, _ name: String, _ mark: ByteOrderMark?) {
        self.label = label
        converterName = name == "utf-8" ? nil : name
        unitSize = name.hasPrefix("utf-32") ? 4 : name.hasPrefix("utf-16") ? 2 : 1
        self.mark = mark?.bytes ?? []
    }

    /// Whether the bytes can be read as UTF-8 without a conversion.
    var isUTF8: Bool { converterName == nil }

    /// Reads the bytes.
    /// - Throws: ``SerializationError/unreadableText(charset:offset:)`` unless invalid bytes are to be replaced.
    func text(of data: Data, replacingInvalidBytes: Bool) throws(SerializationError) -> String {
        let content = data.dropFirst(mark.count)
        if let converterName {
            let bytes = try IconvConverter(from: converterName, unitSize: unitSize, label: label)
                .utf8(of: content, offset: mark.count, replacingInvalidBytes: replacingInvalidBytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        if replacingInvalidBytes { return String(decoding: content, as: UTF8.self) }
        let result: Result<String, SerializationError> = content.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: UInt8.self) { bytes in
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    let offset = mark.count + (bytes.firstInvalidUTF8Offset ?? 0)
                    return .failure(.unreadableText(charset: label, offset: offset))
                }
                return .success(text)
            }
        }
        return try result.get()
    }

    /// The converter for a name on the web.
    ///
    /// Servers name the smaller set and send the larger one that contains it, as browsers found (WHATWG Encoding
    /// Standard, section 4.2). `SHIFT_JIS` and `BIG5` matter most: the plain converter of the first reads a
    /// backslash as a yen sign, which would break JSON.
    private static func converterName(of label: String, mark: ByteOrderMark?) -> String {
        let name = label.asciiLowercased
        switch name {
        case "utf-8", "utf8", "us-ascii", "ascii", "unicode-1-1-utf-8": return "utf-8"
        // Little-endian without a mark: what is on the web (WHATWG), against RFC 2781, section 4.3.
        case "utf-16", "utf16", "unicode", "ucs-2": return mark.flatMap(\.utf16) ?? "utf-16le"
        case "utf-32", "utf32", "ucs-4": return mark.flatMap(\.utf32) ?? "utf-32le"
        case "gb2312", "gbk", "x-gbk", "gb_2312-80", "chinese", "cp936": return "gb18030"
        case "shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "ms_kanji": return "cp932"
        case "big5", "big5-hkscs", "x-x-big5", "cn-big5": return "big5-hkscs"
        case "euc-kr", "ks_c_5601-1987", "ksc5601", "korean", "windows-949": return "uhc"
        default: return name
        }
    }
}
