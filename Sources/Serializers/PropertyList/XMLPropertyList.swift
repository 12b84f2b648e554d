/// A property list in XML, read only for its tags.
struct XMLPropertyList {
    /// What is around the values: the `plist` element, and the element of the value itself.
    private static let maximumTags = PropertyListGuard.maximumDepth + 2

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Why the decoder must not see the list; nil when it may.
    ///
    /// Where the decoder may read a construct differently, it is refused: a closing tag that only this reader sees
    /// would hide the depth.
    mutating func problem() -> String? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
        guard comes("<") else { return "it is neither XML nor the binary form" }
        // UTF-16 and UTF-32; in all other sets that XML comes in, tags are ASCII.
        guard !bytes.contains(0) else { return "its character set is not supported; send UTF-8" }
        while skip(to: "<") {
            if let problem = readMarkup() { return problem }
        }
        return nil
    }

    private mutating func readMarkup() -> String? {
        let cutOff = "it ends inside a tag or comment"
        if take("<!--") { return skip(behind: "-->") ? nil : cutOff }
        if take("<![CDATA[") { return skip(behind: "]]>") ? nil : cutOff }
        if take("<?") { return skip(behind: "?>") ? nil : cutOff }
        let isDeclaration = comes("<!")
        let isClosing = comes("</")
        let start = position + 1
        guard skip(behind: ">") else { return cutOff }
        let tag = bytes[start..<(position - 1)]
        guard !tag.contains(UInt8(ascii: "<")) else { return "a tag holds a tag" }
        if isDeclaration {
            guard depth == 0, !tag.contains(UInt8(ascii: "[")) else { return "it declares entities" }
        } else if isClosing {
            depth -= 1
            guard depth >= 0 else { return "a tag is closed that is not open" }
        } else if tag.last != UInt8(ascii: "/") {
            depth += 1
            guard depth <= Self.maximumTags else { return PropertyListGuard.tooDeep }
        }
        return nil
    }

    private func comes(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard bytes.count - position >= length else { return false }
        return bytes[position..<(position + length)]
            .elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: length))
    }

    private mutating func take(_ text: StaticString) -> Bool {
        guard comes(text) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    /// Moves to the next place of the text; false when there is none.
    private mutating func skip(to text: StaticString) -> Bool {
        while position < bytes.count {
            if comes(text) { return true }
            position += 1
        }
        return false
    }

    private mutating func skip(behind text: StaticString) -> Bool {
        skip(to: text) && take(text)
    }
}
