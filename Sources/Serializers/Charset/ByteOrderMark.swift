import FoundationEssentials

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
