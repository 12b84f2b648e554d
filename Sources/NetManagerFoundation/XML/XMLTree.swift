/// An element of an XML document with everything in it, as a value.
///
/// Comments, processing instructions and the document type are not kept.
public struct XMLTree: Sendable, Hashable {
    /// What stands in an element.
    public enum Content: Sendable, Hashable {
        /// An element.
        case element(XMLTree)
        /// Text, with references replaced and CDATA sections opened; white space between elements is text too.
        case text(String)
    }

    /// The element's name as it is written, prefix included.
    public var name: String
    /// The attributes by their names as they are written, declarations of name spaces among them.
    public var attributes: [String: String]
    /// What stands in the element, in order; no text is empty, and no two texts are neighbors.
    public var content: [Content]

    /// Makes an element.
    public init(_ name: String, attributes: [String: String] = [:], content: [Content] = []) {
        self.name = name
        self.attributes = attributes
        self.content = content
    }

    /// The elements directly in this one, in order.
    public var children: [XMLTree] {
        content.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The elements of a name directly in this one, in order.
    public func children(named name: String) -> [XMLTree] {
        children.filter { $0.name == name }
    }

    /// The first element of a name directly in this one; nil when there is none.
    public subscript(name: String) -> XMLTree? {
        for case .element(let element) in content where element.name == name { return element }
        return nil
    }

    /// All text in this element and in those inside, in the order of the document.
    public var text: String {
        var text = ""
        collect(into: &text)
        return text
    }

    private func collect(into text: inout String) {
        for part in content {
            switch part {
            case .element(let element): element.collect(into: &text)
            case .text(let own): text += own
            }
        }
    }
}
