public import HTTPMessage

/// Gives the body as text.
///
/// The character set is the one given here, else that of the `Content-Type`, else that of a byte order mark, else
/// UTF-8. The mark itself is no part of the text. Of a response only the character sets of the web are believed, and not
/// UTF-7 or others in which harmless bytes mean markup.
public struct StringResponseSerializer: ResponseSerializer, LibrarySerializer {
    /// Which responses are accepted: by default 200…299 and any content type.
    public var validation: ResponseValidation
    /// The character set of the body, whatever the response says; nil believes the response.
    ///
    /// Any name that the C library's `iconv` knows, such as `GB18030`.
    public var charset: String?
    /// Whether bytes that are no text become U+FFFD instead of an error.
    ///
    /// By default false.
    public var replacesInvalidBytes: Bool

    /// Makes a serializer.
    public init(
        charset: String? = nil,
        replacesInvalidBytes: Bool = false,
        validation: ResponseValidation = ResponseValidation()
    ) {
        self.charset = charset
        self.replacesInvalidBytes = replacesInvalidBytes
        self.validation = validation
    }

    /// Checks the response and decodes its body; an empty body is an empty string.
    /// - Throws: ``SerializationError/unreadableText(charset:offset:)`` or
    ///   ``SerializationError/unknownCharset(_:)``, and what the validation finds.
    public func serialize(_ response: HTTPResponse) throws(SerializationError) -> String {
        try validation.validate(response) { () throws(SerializationError) in
            let label = charset ?? response.head.mediaType?.charset
            let decoder = try CharsetDecoder(
                label: label,
                detecting: response.body,
                isChosen: charset != nil
            )
            return try decoder.text(of: response.body, replacingInvalidBytes: replacesInvalidBytes)
        }
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// The body as text in the character set that the response names, else UTF-8, of a response with any content
    /// type and a status of 200…299.
    public static var string: StringResponseSerializer { StringResponseSerializer() }
}
