import FoundationEssentials

/// The compressed formats without compression: stored blocks only, so that no library is needed.
enum StoredDeflate {
    /// A gzip member (RFC 1952).
    static func gzip(_ bytes: Data) -> Data {
        // Magic, method 8, no flags, no time, no hints, unknown system.
        Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]) + blocks(bytes) + littleEndian(crc32(bytes))
            + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
    }

    /// A zlib stream (RFC 1950), which `Content-Encoding: deflate` means.
    static func zlib(_ bytes: Data) -> Data {
        Data([0x78, 0x01]) + blocks(bytes) + Data(littleEndian(adler32(bytes)).reversed())
    }

    /// Stored blocks (RFC 1951, section 3.2.4) of at most 65,535 bytes, the last one marked.
    private static func blocks(_ bytes: Data) -> Data {
        var output = Data()
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            output.append(rest.isEmpty ? 1 : 0)
            output.append(contentsOf: [UInt8(length & 255), UInt8(length >> 8)])
            output.append(contentsOf: [UInt8(~length & 255), UInt8(~length >> 8)])
            output.append(block)
        } while !rest.isEmpty
        return output
    }

    private static func littleEndian(_ value: UInt32) -> Data {
        withUnsafeBytes(of: value.littleEndian) { Data($0) }
    }

    private static func crc32(_ bytes: Data) -> UInt32 {
        ~bytes.reduce(~0) { checksum, byte in
            (0..<8).reduce(checksum ^ UInt32(byte)) { value, _ in
                // The reversed polynomial of RFC 1952, section 8.
                value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1
            }
        }
    }

    private static func adler32(_ bytes: Data) -> UInt32 {
        let (low, high) = bytes.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let low = (sums.0 + UInt32(byte)) % 65_521
            return (low, (sums.1 + low) % 65_521)
        }
        return high << 16 | low
    }
}

extension Answer {
    /// Bytes in the gzip coding; not made smaller, but a client has to decode them.
    public static func gzip(_ text: String, type: String? = "text/plain; charset=utf-8") -> Self {
        .encoded("gzip", StoredDeflate.gzip(Data(text.utf8)), type: type)
    }
}
