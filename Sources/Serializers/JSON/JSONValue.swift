/// Any JSON value (RFC 8259): parameters of requests and results that have no type of their own.
///
/// Literals make one, `["name": "Ada", "tags": [1, 2]]`, and ``init(_:encoder:)`` makes one of any `Encodable` value:
/// `JSONValue(user)`.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number that fits 64 bits with a sign.
    case int(Int64)
    /// A whole number above `Int64.max`.
    case uint(UInt64)
    /// Any other number.
    case double(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object. Its members have no order; writers sort them where order shows.
    case object([String: JSONValue])
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Makes `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Makes a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes a whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// Makes a number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Makes an object; of a key that is there twice the last value counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
