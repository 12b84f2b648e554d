public import FoundationEssentials
import Glibc

/// One entry of the subject alternative names (RFC 5280, section 4.2.1.6).
public enum AlternativeName: Sendable, Hashable {
    /// A host name as it is, whatever it holds: wildcards, a trailing dot, a NUL, UTF-8.
    case dns(String)
    /// An IPv4 or IPv6 address as text; one that does not parse makes a certificate with an empty address.
    case ip(String)
    /// A URI.
    case uri(String)
    /// A mail address.
    case email(String)
    /// Any entry: its context tag (2 is a host name, 7 an address) and its bytes.
    case raw(tag: UInt8, bytes: Data)

    /// The entry as DER: a primitive element with a context tag.
    var der: Data {
        switch self {
        case .email(let text): derElement(tag: 0x81, Data(text.utf8))
        case .dns(let text): derElement(tag: 0x82, Data(text.utf8))
        case .uri(let text): derElement(tag: 0x86, Data(text.utf8))
        case .ip(let text): derElement(tag: 0x87, addressBytes(text) ?? Data())
        case .raw(let tag, let bytes): derElement(tag: 0x80 | tag, bytes)
        }
    }
}

extension AlternativeName: ExpressibleByStringLiteral {
    /// An address when the text is one, else a host name.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// An address when the text is one, else a host name.
    public init(_ text: String) {
        self = addressBytes(text) == nil ? .dns(text) : .ip(text)
    }
}

/// The 4 or 16 bytes of an address; nil when the text is none.
private func addressBytes(_ text: String) -> Data? {
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Data($0) } }
    var six = in6_addr()
    if inet_pton(AF_INET6, text, &six) == 1 { return withUnsafeBytes(of: &six) { Data($0) } }
    return nil
}
