import FoundationEssentials
public import HTTPMessage

extension HTTPRequest {
    /// The request as a command line of curl, for a shell, a log or a report.
    ///
    /// Without `revealingSecrets`, user info, the values of header fields and query items whose names speak of
    /// credentials, and the body are replaced by marks. It is a guess by names: other fields may hold secrets too.
    /// - Parameter revealingSecrets: Whether everything is written as it is, a body of text included; false by default.
    /// - Returns: One line, quoted for a POSIX shell.
    public func curlCommand(revealingSecrets: Bool = false) -> String {
        var words = ["curl"]
        switch method {
        case .get where body == nil: break
        case .head: words.append("--head")
        default: words += ["--request", ShellWord.quoted(method.rawValue)]
        }
        for field in headers {
            let isSecret = !revealingSecrets && SecretNames.match(field.name)
            // A semicolon instead of the colon sends a field without a value; a colon would remove it.
            let line =
                field.value.isEmpty
                ? "\(field.name);" : "\(field.name): \(isSecret ? SecretNames.mark : field.value)"
            words += ["--header", ShellWord.quoted(line)]
        }
        if let body {
            words += ["--data-binary", ShellWord.quoted(HTTPRequest.text(of: body, revealingSecrets))]
        }
        words.append(ShellWord.quoted(revealingSecrets ? url.absoluteString : SecretNames.redacted(url)))
        return words.joined(separator: " ")
    }

    private static func text(of body: HTTPBody, _ revealingSecrets: Bool) -> String {
        switch body.storage {
        case .data(let data):
            guard revealingSecrets, let text = String(validating: data, as: UTF8.self), !text.hasPrefix("@")
            else {
                return "<\(data.count) bytes>"
            }
            return text
        case .file(let path):
            return "@\(path)"
        case .stream, .replayableStream:
            return "<stream>"
        }
    }
}

/// Words of a POSIX shell.
private enum ShellWord {
    /// The text between single quotes, inside which nothing has a meaning but the quote itself.
    static func quoted(_ text: String) -> String {
        // Scalars: a shell ends the word at a quote whether or not a combining mark stands behind it.
        let pieces = text.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + pieces.map { String($0) }.joined(separator: "'\\''") + "'"
    }
}

/// Tells secrets by their names.
private enum SecretNames {
    static let mark = "<redacted>"

    private static let parts = [
        "auth", "cookie", "token", "secret", "password", "passwd", "pwd", "api-key", "api_key", "apikey",
        "signature",
        "credential", "session", "private", "access_key", "access-key",
    ]
    private static let whole: Set<String> = ["key", "sig", "code", "otp", "pin", "jwt"]

    static func match(_ name: some StringProtocol) -> Bool {
        let name = unescaped(name).asciiLowercased
        return whole.contains(name) || parts.contains { name.contains($0) }
    }

    /// The name as a server reads it.
    private static func unescaped(_ name: some StringProtocol) -> String {
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

    /// A URL without its user info, without the values of secret query items, and without a fragment that has such
    /// items, as OAuth's answers have.
    static func redacted(_ url: URL) -> String {
        var reference = URLReference(url.absoluteString)
        if let authority = reference.authority, let at = authority.lastIndex(of: "@") {
            reference.authority = mark + authority[at...]
        }
        reference.query = reference.query.map(redacted)
        reference.fragment = reference.fragment.map(redacted)
        return reference.text
    }

    private static func redacted(items: String) -> String {
        items.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "="), match(item[..<equals]) else { return String(item) }
            return item[...equals] + mark
        }.joined(separator: "&")
    }
}
