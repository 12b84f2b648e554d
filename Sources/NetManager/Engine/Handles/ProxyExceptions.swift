import SecurityPolicy

/// Hosts that are connected to directly although there is a proxy.
///
/// It is decided here and not by libcurl (CURLOPT_NOPROXY), since whoever verifies a connection must know whether a
/// proxy or the server is at its other end. The rules are libcurl's.
struct ProxyExceptions {
    private let patterns: [Substring]

    /// Reads a list, separated by commas or white space: names, which cover what is below them, addresses, networks as
    /// `10.0.0.0/8`, or `*` alone for every host.
    init(_ text: String) {
        patterns = text.split { $0 == "," || $0.isWhitespace }
    }

    /// Whether a host, a name or an address with or without brackets, is connected to directly.
    func cover(_ host: String) -> Bool {
        if patterns == ["*"] { return true }
        let host = host.withoutBrackets
        if let address = IPAddress(text: host) {
            return patterns.contains { Self.network($0, holds: address) }
        }
        let name = Self.labels(host)
        return patterns.contains { pattern in
            let domain = Self.labels(pattern)
            return !domain.isEmpty && name.suffix(domain.count) == domain[...]
        }
    }

    /// The labels of a name in lower case; a dot before or behind it, as in `.example.com`, says nothing.
    private static func labels(_ name: some StringProtocol) -> [Substring] {
        String(name).asciiLowercased.split(separator: ".")
    }

    private static func network(_ pattern: Substring, holds address: IPAddress) -> Bool {
        let sides = pattern.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = sides.first, let network = IPAddress(text: String(first).withoutBrackets),
            network.bytes.count == address.bytes.count
        else { return false }
        guard sides.count == 2 else { return network == address }
        guard let bits = Int(sides[1]), (0...network.bytes.count * 8).contains(bits) else { return false }
        return address.isIn(network, bits: bits)
    }
}

extension String {
    /// The text between brackets, as around an IPv6 address in a URL; otherwise the text.
    fileprivate var withoutBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
