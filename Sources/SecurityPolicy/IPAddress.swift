#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An IPv4 or IPv6 address in network byte order.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16 bytes.
    package let bytes: [UInt8]

    /// Takes the bytes of an iPAddress name; nil unless there are 4 or 16.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads a dotted quad or an IPv6 text (RFC 4291, 2.2), a zone id dropped; nil for anything else.
    ///
    /// Short and numeric forms such as `127.1` are not addresses here.
    package init?(text: some StringProtocol) {
        let text = String(text)
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: &four) { Array($0) }
            return
        }
        let zone = text.firstIndex(of: "%")
        if let zone, text.index(after: zone) == text.endIndex { return nil }
        var six = in6_addr()
        guard inet_pton(AF_INET6, String(text[..<(zone ?? text.endIndex)]), &six) == 1 else { return nil }
        bytes = withUnsafeBytes(of: &six) { Array($0) }
    }

    /// The usual text, IPv6 shortened as in RFC 5952.
    package var description: String {
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
