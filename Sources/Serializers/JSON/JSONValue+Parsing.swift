public import FoundationEssentials

extension JSONValue {
    /// How deep arrays and objects may be nested: 512 levels.
    ///
    /// The reader and the writer refuse what is deeper.
    public static var maximumDepth: Int { JSONParser.maximumDepth }

    /// Reads a JSON text (RFC 8259), in UTF-8, with any value at its top level.
    ///
    /// A byte order mark at its beginning is skipped. Of a key that is there twice the last value counts; keys are
    /// compared as Swift compares strings. Whole numbers are exact up to 64 bits; a number beyond the range of
    /// doubles is an error, one too small is zero. An escape that stands for half a surrogate pair is an error, and
    /// so are bytes that are not UTF-8.
    /// - Parameter data: The whole text. Time and memory grow in proportion to it.
    /// - Throws: ``SerializationError/malformedJSON(reason:offset:)`` with the offset of the byte that is wrong, also
    ///   for nesting deeper than ``maximumDepth``.
    public init(parsing data: Data) throws(SerializationError) {
        try self.init(parsing: data, keepsFirst: false)
    }

    /// Reads a text; of a key that is there twice the first value counts, or the last one.
    init(parsing data: Data, keepsFirst: Bool) throws(SerializationError) {
        let result: Result<JSONValue, SerializationError> = data.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: UInt8.self) { bytes in
                var parser = JSONParser(bytes, keepsFirst: keepsFirst)
                do throws(SerializationError) {
                    return .success(try parser.parse())
                } catch {
                    return .failure(error)
                }
            }
        }
        self = try result.get()
    }

    /// Reads the JSON text in a string, as ``init(parsing:)-(Data)`` does.
    /// - Throws: ``SerializationError/malformedJSON(reason:offset:)``; the offset counts UTF-8 bytes.
    public init(parsing text: String) throws(SerializationError) {
        try self.init(parsing: Data(text.utf8))
    }
}
