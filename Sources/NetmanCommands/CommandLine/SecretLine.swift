/// A line that is typed on a terminal without being shown: a state machine over the bytes that its keys send.
struct SecretLine {
    enum End: Equatable {
        case line([UInt8])
        /// Control-C, or control-D on an empty line.
        case cancelled
        /// More than ``limit`` bytes were typed.
        case tooLong
    }

    /// More than anybody types; what is longer was pasted by mistake.
    static let limit = 1024

    private var bytes: [UInt8] = []

    /// Takes what a key sent; the end of the line when it was one that ends it.
    mutating func take(_ byte: UInt8) -> End? {
        switch byte {
        case 0x0A, 0x0D: return .line(bytes)
        case 0x03: return .cancelled
        case 0x04: return bytes.isEmpty ? .cancelled : .line(bytes)
        case 0x08, 0x7F: eraseCharacter()
        case 0x15: bytes = []
        default:
            bytes.append(byte)
            if bytes.count > Self.limit { return .tooLong }
        }
        return nil
    }

    /// A scalar of UTF-8 is several bytes and one key.
    private mutating func eraseCharacter() {
        while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    }
}
