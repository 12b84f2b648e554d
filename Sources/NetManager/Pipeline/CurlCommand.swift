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
        words.append(
            ShellWord.quoted(revealingSecrets ? url.absoluteString : SecretNames.redacted(url.absoluteString))
        )
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
