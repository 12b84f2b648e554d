import Foundation
import FoundationXML
import Serializers

/// Makes a tree of the events of Foundation's parser, on the thread that parses.
final class XMLTreeBuilder: NSObject, XMLParserDelegate {
    private let limits: XMLLimits
    /// The elements that are open, outermost first.
    private var open: [XMLTree] = []
    /// Text that may still go on: a reference or a CDATA section cuts it into pieces.
    private var text = ""
    private var nodes = 0
    private var root: XMLTree?
    private var failure: SerializationError?

    private init(limits: XMLLimits) {
        self.limits = limits
    }

    /// Parses a document.
    /// - Throws: ``SerializationError/malformedXML(code:reason:line:column:)``.
    static func tree(of source: XMLSource, limits: XMLLimits) throws(SerializationError) -> XMLTree {
        let builder = XMLTreeBuilder(limits: limits)
        let parser = source.makeParser()
        parser.delegate = builder
        let isParsed = parser.parse()
        if let failure = builder.failure { throw failure }
        // Not even true and no error mean a document: a start tag without an end passes, and nothing at all.
        if isParsed, parser.parserError == nil, builder.open.isEmpty, let root = builder.root { return root }
        let code =
            parser.parserError.map { ($0 as NSError).code }
            ?? XMLParser.ErrorCode.prematureDocumentEndError.rawValue
        throw builder.malformed(code, parser)
    }

    private func malformed(_ code: Int, _ parser: XMLParser) -> SerializationError {
        let reason = XMLTreeBuilder.reasons[code] ?? "libxml2 says \(code)"
        return .malformedXML(
            code: code,
            reason: reason,
            line: max(1, parser.lineNumber),
            column: max(1, parser.columnNumber)
        )
    }

    /// The commoner ones of libxml2's numbers.
    private static let reasons: [Int: String] = [
        4: "there is no element", 5: "it ends early, or something follows the root element",
        9: "a character is not allowed", 26: "an entity is not declared", 38: "an attribute is malformed",
        39: "the value of an attribute has no quotes", 41: "an attribute has no value",
        42: "an attribute is there twice", 65: "white space is missing", 68: "a name is malformed",
        73: "a tag has no end", 76: "a start and an end tag differ", 77: "an element has no end",
    ]

    // MARK: Events

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        endText(parser)
        count(1 + attributes.count, parser)
        if open.count >= limits.maximumDepth {
            refuse("elements stand more than \(limits.maximumDepth) deep in one another", parser)
        }
        open.append(XMLTree(name, attributes: attributes))
    }

    func parser(
        _ parser: XMLParser,
        didEndElement name: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard failure == nil else { return }
        endText(parser)
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = root ?? element
        } else {
            open[open.count - 1].content.append(.element(element))
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if failure == nil { text += string }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        if failure == nil { text += String(decoding: block, as: UTF8.self) }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        // The first counts: those after it are its consequences.
        if failure == nil { failure = malformed((parseError as NSError).code, parser) }
    }

    private func endText(_ parser: XMLParser) {
        guard !text.isEmpty, !open.isEmpty else { return }
        count(1, parser)
        open[open.count - 1].content.append(.text(text))
        text = ""
    }

    // MARK: Limits

    private func count(_ more: Int, _ parser: XMLParser) {
        nodes += more
        if nodes > limits.maximumNodes {
            refuse("it has more than \(limits.maximumNodes) elements, attributes and texts", parser)
        }
    }

    private func refuse(_ reason: String, _ parser: XMLParser) {
        guard failure == nil else { return }
        failure = .malformedXML(
            code: XMLSource.refused,
            reason: reason,
            line: max(1, parser.lineNumber),
            column: max(1, parser.columnNumber)
        )
        parser.abortParsing()
    }
}
