/// One of the words behind the URL: a field, a parameter or a file.
enum RequestItem: Sendable, Equatable {
    /// `Name:value`; an empty value removes the field.
    case header(name: String, value: String)
    /// `name==value`: a parameter of the URL.
    case query(name: String, value: String)
    /// `name=value`: text in the body, or in the URL where the method has no body.
    case text(name: String, value: String)
    /// `name:=json`.
    case json(name: String, text: String)
    /// `name@path`: a file in a multipart form.
    case file(name: String, path: String)
    /// `@path`: the file is the body.
    case body(path: String)

    /// Longer separators stand before those that they begin with.
    private static let separators = [":=", "==", ":", "=", "@"]

    /// Reads a word; the first separator in it decides, and a backslash takes a character's meaning away.
    init(_ word: String) throws(CommandFailure) {
        var name = ""
        var rest = word[...]
        while let character = rest.first {
            if character == "\\" {
                rest = rest.dropFirst()
                if let next = rest.popFirst() { name.append(next) }
                continue
            }
            if let separator = Self.separators.first(where: { rest.hasPrefix($0) }) {
                let value = String(rest.dropFirst(separator.count))
                self = try Self.item(name, separator, value, word)
                return
            }
            name.append(character)
            rest = rest.dropFirst()
        }
        throw .usage(
            "\(Printable.text(word)) is no item: Name:value, name=value, name==value, name:=json, name@file, @file"
        )
    }

    private static func item(
        _ name: String,
        _ separator: String,
        _ value: String,
        _ word: String
    ) throws(CommandFailure) -> RequestItem {
        if separator == "@", name.isEmpty { return .body(path: value) }
        guard !name.isEmpty else {
            throw .usage("\(Printable.text(word)): there is no name before \(separator)")
        }
        switch separator {
        case ":=": return .json(name: name, text: value)
        case "==": return .query(name: name, value: value)
        case ":": return .header(name: name, value: value)
        case "=": return .text(name: name, value: value)
        default: return .file(name: name, path: value)
        }
    }
}
