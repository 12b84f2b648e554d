public import Foundation
public import FoundationXML
import HTTPMessage
import Serializers

/// An XML document that has not been parsed yet.
///
/// Foundation's parser cannot go from thread to thread, so this carries what it is made of.
public struct XMLSource: Sendable, Hashable {
    /// The document in UTF-8 without a byte order mark; its declaration names no other encoding.
    public let data: Data

    /// Makes a parser of the document, which has not begun.
    ///
    /// External entities are off. Set a delegate and call `parse()`; as `parse()` is true for some documents that are
    /// not well-formed, such as two elements beside each other, look at `parserError` too.
    public func makeParser() -> XMLParser {
        // From a stream, because libxml2 takes no single piece of more than 10 MB.
        let parser = XMLParser(stream: InputStream(data: data))
        parser.shouldResolveExternalEntities = false
        parser.externalEntityResolvingPolicy = .never
        return parser
    }

    /// Reads the body of a response as far as it takes to know that a parser may be let at it.
    ///
    /// The character set is the byte order mark's, else the `Content-Type`'s, else the declaration's, else UTF-8
    /// (RFC 7303, section 3).
    /// - Throws: ``SerializationError``: an empty body, a body that is too large, text that cannot be read, a document
    ///   type that declares entities.
    init(_ response: HTTPResponse, maximumSize: Int) throws(SerializationError) {
        guard !response.body.isEmpty else { throw .emptyBody }
        guard response.body.count <= maximumSize else { throw .tooLarge(limit: maximumSize) }
        let declared = XMLProlog(response.body).encoding.flatMap {
            String(bytes: response.body[$0], encoding: .utf8)
        }
        var data = Data(try response.text(declaredCharset: declared).utf8)
        let prolog = XMLProlog(data)
        if let offset = prolog.internalSubset {
            let (line, column) = XMLSource.place(of: offset, in: data)
            let reason = "it declares entities or types of its own (DOCTYPE with brackets), which is refused"
            throw .malformedXML(code: XMLSource.refused, reason: reason, line: line, column: column)
        }
        if let attribute = prolog.encodingAttribute {
            // It spoke of the bytes as they were. Blanks in its place keep line and column right.
            data.replaceSubrange(attribute, with: repeatElement(UInt8(ascii: " "), count: attribute.count))
        }
        self.data = data
    }

    /// The code of what is refused although it may be well-formed.
    ///
    /// On Apple's systems that is `delegateAbortedParseError`; Foundation on Linux numbers that case differently.
    static let refused = 512

    private static func place(of offset: Int, in data: Data) -> (line: Int, column: Int) {
        let before = data[..<offset]
        let newline = UInt8(ascii: "\n")
        let lineStart = before.lastIndex(of: newline).map { $0 + 1 } ?? before.startIndex
        return (1 + before.count { $0 == newline }, 1 + offset - lineStart)
    }
}
