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

/// The bytes that begin a Unicode text and tell its form (Unicode Standard, section 23.8).
enum ByteOrderMark: CaseIterable {
    // The longer one first: UTF-32LE begins as UTF-16LE does.
    case utf32LittleEndian, utf32BigEndian, utf16LittleEndian, utf16BigEndian, utf8

    init?(at data: Data) {
        guard let found = Self.allCases.first(where: { data.starts(with: $0.bytes) }) else { return nil }
        self = found
    }

    init?(of charset: String, at data: Data) {
        guard let own = Self.allCases.first(where: { $0.charset == charset }), data.starts(with: own.bytes)
        else { return nil }
        self = own
    }

    var bytes: [UInt8] {
        switch self {
        case .utf32LittleEndian: [0xFF, 0xFE, 0, 0]
        case .utf32BigEndian: [0, 0, 0xFE, 0xFF]
        case .utf16LittleEndian: [0xFF, 0xFE]
        case .utf16BigEndian: [0xFE, 0xFF]
        case .utf8: [0xEF, 0xBB, 0xBF]
        }
    }

    var charset: String {
        switch self {
        case .utf32LittleEndian: "utf-32le"
        case .utf32BigEndian: "utf-32be"
        case .utf16LittleEndian: "utf-16le"
        case .utf16BigEndian: "utf-16be"
        case .utf8: "utf-8"
        }
    }

    /// The form of UTF-16 that the mark tells; nil for the marks of others.
    var utf16: String? {
        switch self {
        // In a text that is said to be UTF-16, the mark of UTF-32 is one of UTF-16 before a NUL.
        case .utf16LittleEndian, .utf32LittleEndian: "utf-16le"
        case .utf16BigEndian: "utf-16be"
        default: nil
        }
    }

    /// The form of UTF-32 that the mark tells; nil for the marks of others.
    var utf32: String? {
        switch self {
        case .utf32LittleEndian, .utf32BigEndian: charset
        default: nil
        }
    }
}
