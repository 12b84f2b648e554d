public import FoundationEssentials

/// A cookie (RFC 6265) in a ``CookieJar``.
public struct Cookie: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, as it is sent.
    public var value: String
    /// The host that gets it, without a leading dot.
    public var domain: String
    /// Whether the hosts below the domain get it too.
    public var includesSubdomains: Bool
    /// The path below which it is sent; `/` by default.
    public var path: String
    /// Whether it is sent over https only.
    public var isSecure: Bool
    /// Whether the server meant it for requests only and not for scripts.
    public var isHTTPOnly: Bool
    /// When it ends, to the second; nil for the end of the session.
    public var expires: Date?

    /// Makes a cookie.
    public init(
        name: String,
        value: String,
        domain: String,
        includesSubdomains: Bool = false,
        path: String = "/",
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        expires: Date? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.includesSubdomains = includesSubdomains
        self.path = path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.expires = expires
    }
}

extension Cookie {
    /// What stands before the domain of a cookie that is not for scripts.
    static let httpOnlyMark = "#HttpOnly_"

    /// Whether a line can begin with it: `#` would make a comment or a mark of it, and a dot would be taken off.
    private static func isDomain(_ text: String) -> Bool {
        text.utf8.first.map { $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: ".") } ?? false
    }

    /// Reads a line of a Netscape cookie file; nil when it is a comment or none.
    ///
    /// Seven fields between tabs: domain, subdomains, path, secure, expiry in seconds since 1970 (0: session), name,
    /// value.
    init?(netscapeLine line: some StringProtocol) {
        // By bytes, as libcurl does: a character that combines with the one before it would hide the mark.
        let mark = Cookie.httpOnlyMark.utf8
        let isHTTPOnly = line.utf8.starts(with: mark)
        guard isHTTPOnly || line.utf8.first != UInt8(ascii: "#") else { return nil }
        let text = String(decoding: line.utf8.dropFirst(isHTTPOnly ? mark.count : 0), as: UTF8.self)
        let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 7, let seconds = Int64(fields[4]), seconds >= 0 else { return nil }
        let isDotted = fields[0].utf8.first == UInt8(ascii: ".")
        let domain = String(decoding: fields[0].utf8.dropFirst(isDotted ? 1 : 0), as: UTF8.self)
        guard Cookie.isDomain(domain), !fields[5].isEmpty else { return nil }
        self.init(
            name: fields[5],
            value: fields[6],
            domain: domain,
            includesSubdomains: fields[1] == "TRUE",
            path: fields[2],
            isSecure: fields[3] == "TRUE",
            isHTTPOnly: isHTTPOnly,
            expires: seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds))
        )
    }

    /// The cookie as a line of a Netscape cookie file; nil when a character in it would make another line of it.
    /// - Parameters:
    ///   - expiring: When it ends; nil for the end of the session.
    ///   - withAnyPath: Whether the path may be one that no cookie should have, and that servers give.
    /// - Returns: The line.
    func netscapeLine(expiring: Date?, withAnyPath: Bool = false) -> String? {
        let texts = [domain, path, name, value]
        guard texts.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }), Cookie.isDomain(domain),
            !name.isEmpty,
            withAnyPath || path.hasPrefix("/")
        else { return nil }
        let seconds = expiring.map { max(1, min($0.timeIntervalSince1970, 253_402_300_799)) } ?? 0
        let fields = [
            (isHTTPOnly ? Cookie.httpOnlyMark : "") + (includesSubdomains ? "." : "") + domain,
            includesSubdomains ? "TRUE" : "FALSE", path, isSecure ? "TRUE" : "FALSE", "\(Int64(seconds))",
            name, value,
        ]
        return fields.joined(separator: "\t")
    }
}
