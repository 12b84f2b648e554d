import FoundationEssentials

/// What OpenSSL reads and writes.
enum OpenSSLBytes {
    /// The DER that an `i2d` function makes.
    static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> Data? {
        let count = encode(nil)
        guard count > 0 else { return nil }
        var data = Data(count: Int(count))
        let written = data.withUnsafeMutableBytes { bytes -> Int32 in
            var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return encode(&cursor)
        }
        return written == count ? data : nil
    }

    /// The object that a `d2i` function makes of DER, which is the caller's to free; nil for what it cannot read.
    static func decoded(
        _ der: Data,
        _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    ) -> OpaquePointer? {
        der.withUnsafeBytes { bytes in
            var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return decode(&cursor, bytes.count)
        }
    }

    /// DER as a PEM block.
    static func pem(_ label: String, _ der: Data) -> String {
        let text = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }
}
