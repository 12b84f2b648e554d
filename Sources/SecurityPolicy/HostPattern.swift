/// Which hosts a policy is for: one host, or those below a domain.
///
/// - `api.example.com` or `192.0.2.1`: this host alone. An IPv4 address also in the form `::ffff:192.0.2.1`, which leads to
///   the same machine.
/// - `*.example.com`: one label more than `example.com`, as in a certificate.
/// - `**.example.com`: `example.com` itself and everything below it.
public struct HostPattern: Sendable, Hashable {
    private enum Depth: Sendable, Hashable { case exact, oneLabel, any }

    private let host: HostName
    private let depth: Depth

    /// Reads a pattern.
    ///
    /// - Parameter description: one of the three forms, international names in A-label form. nil is returned for
    ///   anything else, such as a star elsewhere, a port, or a star before an address.
    public init?(_ description: String) {
        let (depth, rest): (Depth, Substring) =
            if description.hasPrefix("**.") {
                (.any, description.dropFirst(3))
            } else if description.hasPrefix("*.") {
                (.oneLabel, description.dropFirst(2))
            } else {
                (.exact, description[...])
            }
        guard let host = HostName(rest) else { return nil }
        if case .address = host, depth != .exact { return nil }
        self.host = host.reached
        self.depth = depth
    }

    /// Whether the pattern covers a host; false for one that is no host.
    public func matches(_ host: String) -> Bool { HostName(host).map(matches) ?? false }

    func matches(_ asked: HostName) -> Bool {
        let asked = asked.reached
        if asked == host { return depth != .oneLabel }
        guard depth != .exact, case .dns(let name) = asked, case .dns(let domain) = host else { return false }
        guard name.hasSuffix("." + domain) else { return false }
        let front = name.utf8.dropLast(domain.utf8.count + 1)
        return depth == .any || !front.contains(UInt8(ascii: "."))
    }

    /// Orders patterns that cover the same host: an exact one first, then the longer domain, then one label.
    func isMoreSpecific(than other: HostPattern) -> Bool {
        if (depth == .exact) != (other.depth == .exact) { return depth == .exact }
        let (mine, others) = (host.text.utf8.count, other.host.text.utf8.count)
        return mine == others ? depth == .oneLabel && other.depth == .any : mine > others
    }
}

extension HostPattern: LosslessStringConvertible {
    /// The pattern in lower case.
    public var description: String {
        switch depth {
        case .exact: host.text
        case .oneLabel: "*." + host.text
        case .any: "**." + host.text
        }
    }
}
