import FoundationEssentials
public import HTTPMessage

/// Gives the body as a JSON tree.
///
/// An empty body and one of exactly one space are `.null`, whatever the status that is accepted. A
/// response of another content type without a body is so, too. The body of a response with an unacceptable status
/// is read only to tell what else is wrong.
///
/// The text is UTF-8 (RFC 8259, section 8.1) unless the `Content-Type` names another character set or a byte order
/// mark tells one. A name that is not known is taken for UTF-8, which is checked.
public struct JSONResponseSerializer: ResponseSerializer, LibrarySerializer, Hashable, Codable {
    /// The content types that are accepted by default: `application/json`, `text/json` and `text/javascript`.
    public static let contentTypes: Set<String> = ["application/json", "text/json", "text/javascript"]

    /// Which responses are accepted: by default 200…299 and ``contentTypes``.
    public var validation: ResponseValidation
    /// Whether members and elements that are `null` are left out, at every level.
    ///
    /// By default false.
    public var removesKeysWithNullValues: Bool
    /// Whether bytes that are no text become U+FFFD instead of an error.
    ///
    /// By default false.
    public var replacesInvalidBytes: Bool

    /// Makes a serializer.
    public init(
        removesKeysWithNullValues: Bool = false,
        replacesInvalidBytes: Bool = false,
        validation: ResponseValidation = ResponseValidation(acceptableContentTypes: Self.contentTypes)
    ) {
        self.removesKeysWithNullValues = removesKeysWithNullValues
        self.replacesInvalidBytes = replacesInvalidBytes
        self.validation = validation
    }

    /// Checks the response and reads its body.
    /// - Throws: ``SerializationError/malformedJSON(reason:offset:)`` or
    ///   ``SerializationError/unreadableText(charset:offset:)``, and what the validation finds. Offsets in a text that
    ///   was not UTF-8 count the bytes of its conversion.
    public func serialize(_ response: HTTPResponse) throws(SerializationError) -> JSONValue {
        try validation.validate(response) { () throws(SerializationError) in
            if response.hasNoContent { return .null }
            let value = try JSONValue(parsing: response.jsonText(replacingInvalidBytes: replacesInvalidBytes))
            return removesKeysWithNullValues ? value.removingNulls : value
        }
    }
}

extension ResponseSerializer where Self == JSONResponseSerializer {
    /// The body as a JSON tree, of a response with a JSON content type and a status of 200…299.
    public static var json: JSONResponseSerializer { JSONResponseSerializer() }
}

extension HTTPResponse {
    /// The body as JSON text in UTF-8, from whatever character set the response says.
    func jsonText(replacingInvalidBytes: Bool) throws(SerializationError) -> Data {
        let decoder: CharsetDecoder
        do {
            decoder = try CharsetDecoder(label: head.mediaType?.charset, detecting: body)
        } catch {
            decoder = try CharsetDecoder(label: nil, detecting: body)
        }
        // The reader checks UTF-8 itself and skips its mark.
        if decoder.isUTF8, !replacingInvalidBytes { return body }
        return Data(try decoder.text(of: body, replacingInvalidBytes: replacingInvalidBytes).utf8)
    }
}
