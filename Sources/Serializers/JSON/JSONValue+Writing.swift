public import FoundationEssentials

extension JSONValue {
    /// How a JSON text is written.
    public struct WritingOptions: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: Int

        /// Makes options of bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Writes the members of objects in the order of their keys' UTF-8 bytes.
        ///
        /// Without it the order differs from run to run.
        public static let sortedKeys = WritingOptions(rawValue: 1)
        /// Writes one value a line, indented by two spaces, with ` : ` between key and value.
        public static let prettyPrinted = WritingOptions(rawValue: 2)
        /// Writes `/` as `\/`, for texts that end up inside an HTML script element.
        public static let escapingSlashes = WritingOptions(rawValue: 4)
    }

    /// Writes the value as JSON text in UTF-8, without a byte order mark.
    ///
    /// Doubles are written in the fewest digits that read back to the same number, those without a fraction as whole
    /// numbers: `1`. Non-ASCII characters stand as they are.
    /// - Parameter options: The form; by default compact with sorted keys, so that equal values have equal texts.
    /// - Returns: The text.
    /// - Throws: ``SerializationError/invalidParameters(_:)`` for NaN, an infinite number, or nesting deeper than
    ///   ``maximumDepth``.
    public func data(_ options: WritingOptions = .sortedKeys) throws(SerializationError) -> Data {
        var writer = JSONWriter(options)
        try writer.write(self)
        return Data(writer.bytes)
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON text with sorted keys, or a note that it has no such form.
    ///
    /// It shows everything: do not log it where the content is confidential.
    public var description: String {
        do {
            var writer = JSONWriter(.sortedKeys)
            try writer.write(self)
            return String(decoding: writer.bytes, as: UTF8.self)
        } catch {
            return "(no JSON: \(error))"
        }
    }
}
