import COpenSSL
import FoundationEssentials

/// The bytes of an OpenSSL object, by its i2d function.
///
/// The function is called twice as OpenSSL wants it: for the length, then for the bytes.
func encoded(
    _ operation: String,
    _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
) throws(PKIError) -> Data {
    let length = encode(nil)
    guard length > 0 else { throw PKIError(operation) }
    var bytes = Data(count: Int(length))
    let written = bytes.withUnsafeMutableBytes { buffer in
        var cursor = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return encode(&cursor)
    }
    guard written == length else { throw PKIError(operation) }
    return bytes
}

/// An OpenSSL object out of bytes, by its d2i function; the caller frees it.
func decoded(
    _ bytes: Data,
    _ operation: String,
    _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
) throws(PKIError) -> OpaquePointer {
    let object = bytes.withUnsafeBytes { buffer in
        var cursor = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return decode(&cursor, buffer.count)
    }
    return try object.orThrow(operation)
}

/// One DER element: tag, length, content (X.690, section 8.1).
func derElement(tag: UInt8, _ content: Data) -> Data {
    var element = Data([tag])
    if content.count < 0x80 {
        element.append(UInt8(content.count))
    } else {
        let length = withUnsafeBytes(of: UInt64(content.count).bigEndian) { Data($0.drop { $0 == 0 }) }
        element.append(0x80 | UInt8(length.count))
        element.append(length)
    }
    return element + content
}

/// PEM armour: base64 in lines of 64 characters (RFC 7468, section 2).
func pem(_ label: String, _ bytes: Data) -> String {
    let text = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
}

extension Data {
    /// Lower-case hexadecimal digits, as OpenSSL's configuration values want them.
    var hexadecimal: String {
        let digits = Array("0123456789abcdef")
        return String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
