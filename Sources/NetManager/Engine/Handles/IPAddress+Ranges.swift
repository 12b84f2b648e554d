import CCurl
import Glibc
import SecurityPolicy

extension IPAddress {
    /// The address of a socket address; nil for another family than IPv4 and IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
            }
            self.init(bytes)
        case AF_INET6:
            let bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
            }
            self.init(bytes)
        default:
            return nil
        }
    }

    /// Whether the address is anything but an ordinary one of the public internet: private, loopback, link-local,
    /// multicast, reserved, or a form that carries such an IPv4 address (RFC 6890 and the registries it began).
    var isSpecial: Bool {
        if bytes.count == 4 { return Self.isIn(Self.special4, bytes) }
        if let embedded = embeddedIPv4 { return embedded.isSpecial }
        // What is not in 2000::/3 has not been given out.
        return !Self.isIn([([0x20], 3)], bytes) || Self.isIn(Self.special6, bytes)
    }

    /// The IPv4 address inside a mapped (RFC 4291), NAT64 (RFC 6052) or 6to4 (RFC 3056) address.
    private var embeddedIPv4: IPAddress? {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        let translated: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
        if bytes.starts(with: mapped) || bytes.starts(with: translated) {
            return IPAddress(Array(bytes[12...]))
        }
        if bytes.starts(with: [0x20, 0x02]) { return IPAddress(Array(bytes[2..<6])) }
        return nil
    }

    /// Whether so many first bits are those of a network's address of the same family.
    func isIn(_ network: IPAddress, bits: Int) -> Bool {
        Self.isIn([(network.bytes, bits)], bytes)
    }

    private static func isIn(_ ranges: [(prefix: [UInt8], bits: Int)], _ bytes: [UInt8]) -> Bool {
        ranges.contains { range in
            let whole = range.bits / 8
            guard bytes.starts(with: range.prefix.prefix(whole)) else { return false }
            let rest = range.bits % 8
            guard rest > 0 else { return true }
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> rest)
            return bytes[whole] & mask == range.prefix[whole] & mask
        }
    }

    private static let special4: [(prefix: [UInt8], bits: Int)] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12),
        ([192, 0, 0], 24),
        ([192, 0, 2], 24), ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24),
        ([203, 0, 113], 24), ([224], 4), ([240], 4),
    ]

    private static let special6: [(prefix: [UInt8], bits: Int)] = [
        ([0x20, 0x01, 0x00], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x3F, 0xFF, 0x00], 20),
    ]
}
