import COpenSSL
import COpenSSLShims
import FoundationEssentials

/// Readers that turn what OpenSSL prints or stores into Swift values.
enum OpenSSLText {
    /// What `write` prints into a memory buffer; empty when there is no memory.
    static func printed(_ write: (OpaquePointer) -> Void) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        write(bio)
        var start: UnsafePointer<CChar>?
        let count = nm_bio_mem_data(bio, &start)
        guard let start, count > 0 else { return "" }
        return String(
            decoding: UnsafeRawBufferPointer(start: start, count: count),
            as: UTF8.self
        )
    }

    /// The latest entry of OpenSSL's error queue in words; the queue is empty afterwards.
    static func lastError() -> String {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return "unknown format" }
        return String(cString: reason)
    }

    /// A point in time; nil for one that is not valid DER.
    static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
        guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard let time, ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Date(timeIntervalSince1970: Double(days) * 86_400 + Double(seconds))
    }

    /// SHA-256, 32 bytes.
    static func sha256(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        OpenSSLLibrary.prepare()
        return [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            SHA256(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, buffer.baseAddress)
            count = 32
        }
    }

    /// Lower-case hexadecimal digits.
    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Printable ASCII as it is, every other byte as `\xNN`, so that a name can go into a log.
    static func printable(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes {
            if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "\\") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "\\x" + hex(CollectionOfOne(byte))
            }
        }
        return text
    }
}
