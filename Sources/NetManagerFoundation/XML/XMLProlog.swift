import Foundation

/// What stands before the root element (XML 1.0, section 2.8), read only as far as it says something about the rest.
///
/// It is lenient: what is not well-formed is left for the parser to refuse.
struct XMLProlog {
    /// The value of the declaration's `encoding`, as a range of the bytes.
    private(set) var encoding: Range<Data.Index>?
    /// The whole of `encoding="…"`.
    private(set) var encodingAttribute: Range<Data.Index>?
    /// Where the document type begins a list of declarations of its own; nil when it has none.
    ///
    /// Entities are declared there. Without them nothing grows, and nothing is fetched.
    private(set) var internalSubset: Data.Index?

    private let data: Data
    private var position: Data.Index

    /// Reads the beginning of a document in UTF-8, or in another character set that has ASCII's characters in their
    /// places.
    init(_ data: Data) {
        self.data = data
        position = data.startIndex
        if skip("<?xml") { readDeclaration() }
        while position < data.endIndex {
            skipSpace()
            if skip("<!--") {
                skip(through: "-->")
            } else if skip("<?") {
                skip(through: "?>")
            } else if skip("<!DOCTYPE") {
                readDocumentType()
            } else {
                return
            }
        }
    }

    private mutating func readDeclaration() {
        let start = position
        skip(through: "?>")
        let declaration = data[start..<position]
        guard let name = declaration.firstRange(of: Data("encoding".utf8)) else { return }
        var cursor = name.upperBound
        func next() -> UInt8? { cursor < declaration.endIndex ? declaration[cursor] : nil }
        while let byte = next(), byte.isXMLSpace || byte == UInt8(ascii: "=") { cursor += 1 }
        guard let quote = next(), quote.isQuote else { return }
        let value = cursor + 1
        guard let end = declaration[value...].firstIndex(of: quote) else { return }
        encoding = value..<end
        encodingAttribute = name.lowerBound..<end + 1
    }

    /// Identifiers may hold anything between their quotes.
    private mutating func readDocumentType() {
        var quote: UInt8?
        while position < data.endIndex {
            let byte = data[position]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte.isQuote {
                quote = byte
            } else if byte == UInt8(ascii: "[") {
                internalSubset = internalSubset ?? position
                return
            } else if byte == UInt8(ascii: ">") {
                position += 1
                return
            }
            position += 1
        }
    }

    private mutating func skip(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard data.distance(from: position, to: data.endIndex) >= length else { return false }
        let isThere = text.withUTF8Buffer { data[position..<position + length].elementsEqual($0) }
        if isThere { position += length }
        return isThere
    }

    private mutating func skip(through end: String) {
        position = data[position...].firstRange(of: Data(end.utf8))?.upperBound ?? data.endIndex
    }

    private mutating func skipSpace() {
        while position < data.endIndex, data[position].isXMLSpace { position += 1 }
    }
}

extension UInt8 {
    fileprivate var isXMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
    fileprivate var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") }
}
