import HTTPMessage

extension HTTPResponse {
    /// The body as text, for formats whose byte order mark is believed more than anything else, as XML's is
    /// (RFC 7303, section 3).
    /// - Parameter declared: The character set that the content itself declares.
    /// - Returns: The text, read in the character set of the mark, else of the `Content-Type`, else as declared, else
    ///   as UTF-8. The mark is no part of it.
    /// - Throws: ``SerializationError/unreadableText(charset:offset:)``,
    ///   ``SerializationError/unknownCharset(_:)``.
    package func text(declaredCharset declared: String?) throws(SerializationError) -> String {
        let label = ByteOrderMark(at: body) == nil ? head.mediaType?.charset ?? declared : nil
        return try CharsetDecoder(label: label, detecting: body).text(of: body, replacingInvalidBytes: false)
    }
}
