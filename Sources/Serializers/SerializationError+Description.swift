import HTTPMessage

extension SerializationError: CustomStringConvertible {
    /// What is wrong, where, and what to do about it, without any of the content.
    public var description: String {
        switch self {
        case .invalidParameters(let reason):
            "The parameters cannot be sent: \(reason)."
        case .invalidRequest(let reason):
            "The request cannot be sent: \(reason)."
        case .file(let path, let reason):
            "The file \(path) cannot be sent: \(reason)."
        case .custom(let error):
            "A function of the caller's failed: \(type(of: error))."
        case .unacceptableStatus(let status, let underlying):
            "The server answered \(status) (\(HTTPStatus.reason(of: status)))\(Self.suffix(underlying))"
        case .unacceptableContentType(let type, let underlying):
            """
            The content type \(type.map(Self.printable) ?? "(none)") is not accepted; \
            add it to acceptableContentTypes if it is right\(Self.suffix(underlying))
            """
        case .malformedJSON(let reason, let offset):
            "The body is no JSON text: \(reason), at byte \(offset)."
        case .malformedPropertyList(let reason):
            "The body is no property list: \(reason)"
        case .malformedXML(_, let reason, let line, let column):
            "The body is no XML document that can be read: \(reason), at line \(line), column \(column)."
        case .emptyBody:
            "The body is empty; ask for an optional type if that is right."
        case .undecodable(let type, let underlying):
            "The body is no \(type): \(Self.place(underlying))."
        case .unreadableText(let charset, let offset):
            "The body is no text in \(charset), at byte \(offset)."
        case .unknownCharset(let name):
            "There is no converter for the character set \(name); read the body as data if it is right."
        case .tooLarge(let limit):
            "The body is larger than the limit of \(limit) bytes; raise the limit if that is right."
        }
    }

    private static func suffix(_ underlying: SerializationError?) -> String {
        underlying.map { ". \($0)" } ?? "."
    }

    /// A content type as it may stand in a line of a log: one that is no media type is a header value like any
    /// other, and is not repeated.
    private static func printable(_ contentType: String) -> String {
        MediaType(contentType)?.essence ?? "(malformed)"
    }

    /// Which key a decoder stumbled over; never the value.
    private static func place(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(type(of: error))" }
        let (problem, context) =
            switch error {
            case .typeMismatch(let type, let context): ("a value is no \(Self.word(for: type))", context)
            case .valueNotFound(let type, let context):
                ("there is null instead of \(Self.word(for: type))", context)
            case .keyNotFound(let key, let context): ("the key \(key.stringValue) is missing", context)
            case .dataCorrupted(let context): ("a value is malformed", context)
            @unknown default:
                ("a value is wrong", DecodingError.Context(codingPath: [], debugDescription: ""))
            }
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
        return "\(problem), at \(path.isEmpty ? "the top level" : path.joined(separator: "."))"
    }

    /// What decoders call `Dictionary<String, Any>` is what JSON calls an object.
    private static func word(for type: any Any.Type) -> String {
        if type == [Any].self { return "array" }
        return type == [String: Any].self ? "object" : "\(type)"
    }
}
