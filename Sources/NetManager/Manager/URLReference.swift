import HTTPMessage

/// A URL or relative reference taken apart (RFC 3986, appendix B), and put together again.
///
/// The manager resolves base URLs and redirects with it and not with Foundation's URL, so that what was checked is
/// what is sent: two parsers need not agree.
struct URLReference: Sendable, Hashable {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    init(_ text: String) {
        // The delimiters are ASCII: bytes are compared, which is many times faster than characters.
        var rest = text[...]
        if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = String(rest[rest.utf8.index(after: hash)...])
            rest = rest[..<hash]
        }
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = String(rest[rest.utf8.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")), URLReference.isScheme(rest[..<colon]) {
            scheme = String(rest[..<colon])
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        path = String(rest)
    }

    /// A scheme's syntax: RFC 3986, section 3.1.
    private static func isScheme(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The reference as it is written (RFC 3986, section 5.3).
    var text: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// What the reference means where the base stands (RFC 3986, section 5.2.2).
    func resolved(against base: URLReference) -> URLReference {
        var target = self
        if scheme == nil {
            target.scheme = base.scheme
            if authority == nil {
                target.authority = base.authority
                if path.isEmpty {
                    target.path = base.path
                    target.query = query ?? base.query
                    return target
                }
                if path.utf8.first != UInt8(ascii: "/") { target.path = base.merging(path) }
            }
        }
        target.path = URLReference.removingDotSegments(from: target.path)
        return target
    }

    /// RFC 3986, section 5.2.3.
    private func merging(_ relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return path[...slash] + relative
    }

    /// RFC 3986, section 5.2.4.
    static func removingDotSegments(from path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        // Scalars: a slash with a combining mark behind it is another character, and a slash all the same.
        let segments = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)[
            (isAbsolute ? 1 : 0)...
        ].map { Substring($0) }
        var kept: [Substring] = []
        for (index, segment) in zip(segments.indices, segments) {
            let isLast = index == segments.index(before: segments.endIndex)
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                kept = kept.dropLast()
                if isLast { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return (isAbsolute ? "/" : "") + kept.joined(separator: "/")
    }

    /// The host of the authority, in lower case and with the brackets of an IPv6 address.
    var host: String? {
        guard let authority else { return nil }
        return hostAndPort(of: authority).host.asciiLowercased
    }

    /// The port that is written; nil when there is none or it is no number up to 65535.
    var port: UInt16? {
        authority.flatMap { hostAndPort(of: $0).port }.flatMap { UInt16($0) }
    }

    /// The authority's parts behind the user info, as they are written.
    func hostAndPort(of authority: String) -> (host: Substring, port: Substring?) {
        var rest = authority[...]
        if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.utf8.index(after: at)...] }
        var searched = rest
        if rest.utf8.first == UInt8(ascii: "[") {
            // The colons inside an IPv6 address are no port's.
            searched = rest[(rest.utf8.firstIndex(of: UInt8(ascii: "]")) ?? rest.endIndex)...]
        }
        guard let colon = searched.utf8.lastIndex(of: UInt8(ascii: ":")) else { return (rest, nil) }
        return (rest[..<colon], rest[rest.utf8.index(after: colon)...])
    }
}

extension URLReference {
    /// Scheme, host and port with the scheme's default filled in: who is asked (RFC 6454, section 4).
    struct Origin: Hashable, Sendable {
        var scheme: String
        var host: String
        var port: UInt16
    }

    /// The origin; nil without a scheme or host.
    var origin: Origin? {
        guard let scheme = scheme?.asciiLowercased, let host, !host.isEmpty else { return nil }
        return Origin(scheme: scheme, host: host, port: port ?? (scheme == "https" ? 443 : 80))
    }
}
