/// The ASCII characters that stand in a form as they are; all others are percent-escaped.
public struct FormCharacters: Sendable, Hashable {
    /// One bit for each ASCII character, 0…63 and 64…127.
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// The unreserved characters of RFC 3986 (section 2.3), `/` and `?` (section 3.4).
    public static let standard = FormCharacters(unreserved: "/?")

    /// The unreserved characters of RFC 3986 (section 2.3) only.
    public static let unreserved = FormCharacters(unreserved: "")

    /// Makes a set of characters.
    ///
    /// Left out, since forms with them could not be read back: `%`, `&`, `=`, `+`, `#`, space, control
    /// characters, and everything that is not ASCII.
    public init(_ characters: String) {
        for byte in characters.utf8 where Self.mayBeAllowed(byte) {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
        }
    }

    private init(unreserved more: String) {
        self.init("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~" + more)
    }

    private static func mayBeAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x23, 0x25, 0x26, 0x2B, 0x3D, 0x7F...: false
        default: true
        }
    }

    func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low >> UInt64(byte) & 1 == 1
        case 64..<128: high >> UInt64(byte - 64) & 1 == 1
        default: false
        }
    }
}
