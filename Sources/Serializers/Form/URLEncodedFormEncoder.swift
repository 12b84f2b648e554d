import FoundationEssentials

/// Writes any `Encodable` value as a query or as a body of `application/x-www-form-urlencoded`.
///
/// The value must encode itself as an object: a structure, a class or a dictionary. Decimals and URLs are
/// written as their text, and a Double keeps its fraction (`1.0`).
public struct URLEncodedFormEncoder: Sendable {
    /// Whether members are sorted by the UTF-8 bytes of their names, at every level.
    ///
    /// By default they are; else they stand as the value encodes them. Elements of arrays keep their order,
    /// but for arrays of several kinds of elements in the `[]` style, which are sorted by name.
    public var sortsKeys = true
    /// How the elements of an array are named.
    ///
    /// By default `key[]`.
    public var arrayStyle = FormArrayStyle.brackets
    /// How truth values are written.
    ///
    /// By default `1` and `0`.
    public var boolStyle = FormBoolStyle.numeric
    /// How `Data` is written.
    ///
    /// By default as base64.
    public var dataStyle = DataStyle.base64
    /// How `Date` is written.
    ///
    /// By default as the date encodes itself: seconds since 2001-01-01 00:00 UTC.
    public var dateStyle = DateStyle.deferred
    /// How names are changed.
    ///
    /// By default not at all.
    public var keyStyle = KeyStyle.asWritten
    /// How the name of a member is added to the name of its object.
    ///
    /// By default `outer[inner]`.
    public var keyPathStyle = KeyPathStyle.brackets
    /// What is written for nil.
    ///
    /// By default nothing.
    public var nilStyle = NilStyle.dropKey
    /// How a space is written.
    ///
    /// By default `%20`.
    public var spaceStyle = FormSpaceStyle.percentEscaped
    /// The characters that are not escaped.
    ///
    /// By default letters, digits and `-._~/?`.
    public var allowedCharacters = FormCharacters.standard

    /// Makes an encoder with the defaults.
    public init() {}

    /// The value as a query, without a question mark.
    ///
    /// - Parameter value: A value that encodes itself as an object.
    /// - Returns: The escaped text; empty for an object without members.
    /// - Throws: ``SerializationError/invalidParameters(_:)`` for an array or a single value at the top, for
    ///   numbers that are not finite and for more than 512 levels; ``SerializationError/custom(_:)`` with what
    ///   the value or a function of the caller threw.
    public func encode(_ value: some Encodable) throws(SerializationError) -> String {
        let root = FormNode()
        do {
            try FormTreeEncoder(node: root, options: self, codingPath: []).write(value)
        } catch let error as SerializationError {
            throw error
        } catch {
            throw .custom(error)
        }
        let pairs = try FormFlattener(options: self).pairs(of: root)
        return FormWriter(allowed: allowedCharacters, spaces: spaceStyle).text(of: pairs)
    }
}
