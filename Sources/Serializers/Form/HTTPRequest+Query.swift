import FoundationEssentials
package import HTTPMessage

extension HTTPRequest {
    /// Adds to the query of the URL, before its fragment; what stands there already is kept to the letter.
    ///
    /// - Parameter query: The escaped text; an empty one changes nothing.
    /// - Throws: ``SerializationError/invalidRequest(_:)`` when the query may not stand in a URL.
    package mutating func appendQuery(_ query: String) throws(SerializationError) {
        guard !query.isEmpty else { return }
        let text = url.absoluteString
        let end = text.firstIndex(of: "#") ?? text.endIndex
        let separator: String
        if let mark = text[..<end].firstIndex(of: "?") {
            let existing = text[text.index(after: mark)..<end]
            separator = existing.isEmpty || existing.hasSuffix("&") ? "" : "&"
        } else {
            separator = "?"
        }
        let edited = text[..<end] + separator + query + text[end...]
        // The parser does not mind a second `#`, but all behind it would be lost.
        guard !query.utf8.contains(UInt8(ascii: "#")),
            let changed = URL(string: String(edited), encodingInvalidCharacters: false)
        else {
            throw .invalidRequest(
                "the query holds characters that may not stand in a URL: percent-escape them"
            )
        }
        url = changed
    }
}
