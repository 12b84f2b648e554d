import COpenSSL
import COpenSSLShims

/// A host that was asked for, classified before anything is compared.
///
/// The class decides which names of a certificate may match: addresses only iPAddress entries, DNS names only
/// dNSName entries (RFC 9525, 6). A common name never counts.
package enum HostName: Sendable, Hashable {
    /// Lower case, A-labels, without the trailing dot.
    case dns(String)
    /// An address literal.
    case address(IPAddress)

    /// Classifies a host as it stands in a URL; nil if it is neither an address nor a DNS name.
    ///
    /// - Parameter host: a name in A-label form, one trailing dot ignored, or an IPv4 or IPv6 address, with or
    ///   without brackets and zone id. Non-ASCII letters are refused: convert them to A-labels first.
    package init?(_ host: some StringProtocol) {
        if host.hasPrefix("["), host.hasSuffix("]"), host.utf8.count > 2 {
            guard let address = IPAddress(text: host.dropFirst().dropLast()) else { return nil }
            self = .address(address)
            return
        }
        if let address = IPAddress(text: host) {
            self = .address(address)
            return
        }
        var bytes = host.utf8.map { ($0 >= 0x41 && $0 <= 0x5A) ? $0 | 0x20 : $0 }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard HostName.isDNSName(bytes) else { return nil }
        self = .dns(String(decoding: bytes, as: UTF8.self))
    }

    /// The name or address in its normal form.
    package var text: String {
        switch self {
        case .dns(let name): name
        case .address(let address): address.description
        }
    }

    /// The host that a connection leads to: an IPv4 address where it is written as a mapped one (RFC 4291, 2.5.5.2).
    ///
    /// It decides which policy is meant. Certificates are for the address as it is written.
    var reached: HostName {
        guard case .address(let address) = self, address.bytes.count == 16,
            address.bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]),
            let mapped = IPAddress(Array(address.bytes[12...]))
        else { return self }
        return .address(mapped)
    }

    /// Whether a subject alternative name of the certificate covers this host.
    func matches(_ certificate: Certificate) -> Bool {
        switch self {
        case .dns(let name):
            X509_check_host(certificate.record.x509, name, name.utf8.count, HostName.matchFlags, nil) == 1
        case .address(let address):
            X509_check_ip(certificate.record.x509, address.bytes, address.bytes.count, 0) == 1
        }
    }

    /// No common name, no `a*.example.com`.
    static let matchFlags = UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)

    /// RFC 1035 sizes, the letters, digits and hyphen of RFC 952 and the underscore that real names have.
    ///
    /// A name whose last label is a number, hexadecimal ones included, would be read as an address by some resolvers
    /// and by libcurl (WHATWG URL, "ends in a number").
    private static func isDNSName(_ bytes: [UInt8]) -> Bool {
        guard (1...253).contains(bytes.count) else { return false }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for label in labels {
            guard (1...63).contains(label.count) else { return false }
            guard label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-") else { return false }
            guard label.allSatisfy({ isLetter($0) || isDigit($0) || $0 == 0x2D || $0 == 0x5F }) else {
                return false
            }
        }
        return labels.last.map { !isNumber($0) } ?? false
    }

    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        if label.starts(with: "0x".utf8) {
            return label.dropFirst(2).allSatisfy { isDigit($0) || (0x61...0x66).contains($0) }
        }
        return label.allSatisfy(isDigit)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= 0x61 && byte <= 0x7A }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
