import FoundationEssentials

/// Looks at a property list before Foundation's decoder does, and refuses what would bring it down.
///
/// The decoder reads nested XML recursively without a limit and overflows the stack; in the binary form it follows
/// references wherever they lead, in circles too. Whether the list is well-formed otherwise is left to the decoder.
enum PropertyListGuard {
    /// How deep a list may be nested: as deep as JSON.
    static let maximumDepth = JSONValue.maximumDepth

    /// Lets pass what the decoder can read safely.
    /// - Throws: ``SerializationError/malformedPropertyList(reason:)``.
    static func check(_ data: Data) throws(SerializationError) {
        let problem: String? = data.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: UInt8.self) { bytes in
                if bytes.starts(with: "bplist".utf8) {
                    var list = BinaryPropertyList(bytes)
                    return list?.problem() ?? (list == nil ? "its trailer is wrong" : nil)
                }
                var list = XMLPropertyList(bytes)
                return list.problem()
            }
        }
        if let problem { throw .malformedPropertyList(reason: problem) }
    }

    static let tooDeep = "it is nested deeper than \(maximumDepth) levels"
}
