import COpenSSL
import Glibc

/// The SHA-256 of things that are too long to be held.
enum FileDigest {
    /// Bytes of one read: 256 KiB, from where on larger reads gain nothing.
    private static let pieceSize = 256 << 10

    /// The digest of a whole file, whatever its position, in lower-case hexadecimal digits; nil when it cannot be read.
    static func sha256(of descriptor: Int32) -> String? {
        digest { update in
            var offset: off_t = 0
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 1)
            defer { room.deallocate() }
            while true {
                let count = pread(descriptor, room.baseAddress, room.count, offset)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return false }
                guard count > 0 else { return true }
                update(UnsafeRawBufferPointer(rebasing: room[..<count]))
                offset += count
            }
        }
    }

    /// The digest of a text.
    static func sha256(_ text: String) -> String? {
        var text = text
        return text.withUTF8 { bytes in
            digest { update in
                update(UnsafeRawBufferPointer(bytes))
                return true
            }
        }
    }

    private static func digest(_ feed: ((UnsafeRawBufferPointer) -> Void) -> Bool) -> String? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { return nil }
        var isFine = true
        guard feed({ isFine = EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 && isFine }), isFine
        else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_DigestFinal_ex(context, &bytes, &count) == 1 else { return nil }
        let digits = Array("0123456789abcdef")
        return String(bytes.prefix(Int(count)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
