import HTTPMessage

/// Tells secrets by their names, in header fields and in URLs.
package enum SecretNames {
    /// What stands where a secret was.
    package static let mark = "<redacted>"

    private static let parts = [
        "auth", "cookie", "token", "secret", "password", "passwd", "pwd", "api-key", "api_key", "apikey",
        "signature",
        "credential", "session", "private", "access_key", "access-key",
    ]
    private static let whole: Set<String> = ["key", "sig", "code", "otp", "pin", "jwt"]

    /// Whether the value behind a name is a secret, as far as the name tells.
    package static func match(_ name: some StringProtocol) -> Bool {
        let name = unescaped(name).asciiLowercased
        return whole.contains(name) || parts.contains { name.contains($0) }
    }

    /// The name as a server reads it.
    package static func unescaped(_ name: some StringProtocol) -> String {
        var bytes = Array(name.utf8)[...]
        var plain: [UInt8] = []
        while let byte = bytes.popFirst() {
            let digits = String(decoding: bytes.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                plain.append(value)
                bytes = bytes.dropFirst(2)
            } else {
                plain.append(byte)
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// A URL without its user info, without the values of secret query items, and without those of a fragment that has
    /// such items, as OAuth's answers have.
    package static func redacted(
        _ url: String,
        where isSecret: (String) -> Bool = { SecretNames.match($0) }
    ) -> String {
        var reference = URLReference(url)
        if let authority = reference.authority, let at = authority.lastIndex(of: "@") {
            reference.authority = mark + authority[at...]
        }
        reference.query = reference.query.map { redacted(items: $0, where: isSecret) }
        reference.fragment = reference.fragment.map { redacted(items: $0, where: isSecret) }
        return reference.text
    }

    /// Items between ampersands, as in a query or a form, without the values of the secret ones.
    package static func redacted(items: String, where isSecret: (String) -> Bool) -> String {
        items.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "="), isSecret(unescaped(item[..<equals])) else {
                return String(item)
            }
            return item[...equals] + mark
        }.joined(separator: "&")
    }
}
