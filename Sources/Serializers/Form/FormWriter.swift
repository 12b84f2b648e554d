/// One name and value of a form, not yet escaped.
struct FormPair: Sendable, Hashable {
    let name: String
    /// Nil writes the name alone, without an equals sign.
    let value: String?
}

/// Writes names and values as a query or as a body of `application/x-www-form-urlencoded`.
struct FormWriter: Sendable {
    var allowed = FormCharacters.standard
    var spaces = FormSpaceStyle.percentEscaped

    func text(of pairs: [FormPair]) -> String {
        var bytes: [UInt8] = []
        // A guess that spares most growth: names and values of a few characters.
        bytes.reserveCapacity(pairs.count * 16)
        for (index, pair) in pairs.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            escape(pair.name, into: &bytes)
            guard let value = pair.value else { continue }
            bytes.append(UInt8(ascii: "="))
            escape(value, into: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The percent-escaped UTF-8 of a text, with digits in upper case (RFC 3986, section 2.1).
    func escape(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        escape(text, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func escape(_ text: String, into bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if allowed.contains(byte) {
                bytes.append(byte)
            } else if byte == 0x20, spaces == .plus {
                bytes.append(UInt8(ascii: "+"))
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(Self.hexDigit(byte >> 4))
                bytes.append(Self.hexDigit(byte & 0x0F))
            }
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
