/// How much of an XML document is read before it is refused.
public struct XMLLimits: Sendable, Hashable, Codable {
    /// The largest body in bytes; the default is 16 MiB.
    public var maximumSize: Int
    /// How deep elements may stand in one another; the default is 256, and more than 1000 is not possible, as a tree
    /// that is let go of needs a piece of the stack for each level.
    public var maximumDepth: Int {
        didSet { maximumDepth = min(maximumDepth, XMLLimits.deepest) }
    }
    /// How many elements, attributes and pieces of text there may be together; the default is 500 000.
    ///
    /// One takes up to about 200 bytes in a tree, whatever it takes in the document.
    public var maximumNodes: Int

    /// A tree of this depth is let go of on a stack of half a mebibyte; tests do it.
    static let deepest = 1000

    /// Makes limits.
    public init(maximumSize: Int = 16 << 20, maximumDepth: Int = 256, maximumNodes: Int = 500_000) {
        self.maximumSize = maximumSize
        self.maximumDepth = min(maximumDepth, XMLLimits.deepest)
        self.maximumNodes = maximumNodes
    }
}
