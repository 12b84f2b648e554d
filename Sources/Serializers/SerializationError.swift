/// Why parameters could not be written or a response could not be read.
///
/// The texts name types, offsets and limits, never the content itself.
@nonexhaustive
public indirect enum SerializationError: Error, Sendable {
    /// The parameters have no form in this encoding: what is wrong, and where.
    case invalidParameters(String)
    /// The request cannot carry this content: what to change.
    case invalidRequest(String)
    /// A file of a form could not be used.
    case file(path: String, reason: String)
    /// An error that the caller's own function threw, as it is.
    case custom(any Error)

    /// The status code is not accepted; underneath, what else is wrong with the response.
    case unacceptableStatus(Int, underlying: SerializationError?)
    /// The content type, nil when there is none, is not accepted; underneath, what else is wrong.
    case unacceptableContentType(String?, underlying: SerializationError?)
    /// The body is no JSON text: the reason and the offset of the byte where reading stopped.
    case malformedJSON(reason: String, offset: Int)
    /// The body is no property list.
    case malformedPropertyList(reason: String)
    /// The body is no XML document, or not one within the serializer's limits: libxml2's number (that of
    /// `XMLParser.ErrorCode`; 512 when the serializer itself refused it), the reason, and where, from line and column 1.
    case malformedXML(code: Int, reason: String, line: Int, column: Int)
    /// The body has no bytes although the result needs some.
    case emptyBody
    /// The body was read, but is no value of the type that was asked for.
    case undecodable(type: String, underlying: any Error)
    /// The body is no text in this character set; the offset of the first byte that is not.
    case unreadableText(charset: String, offset: Int)
    /// The C library has no converter for the character set that the response names.
    case unknownCharset(String)
    /// The body is larger than the serializer reads: the limit in bytes.
    case tooLarge(limit: Int)
}
