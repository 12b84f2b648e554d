extension JSONValue {
    /// The value of a member; nil when there is none, or when this is no object.
    ///
    /// A member that is there with `null` is `.null`.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// The element at an index, from 0; nil when there is none, or when this is no array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The boolean; nil for any other kind, numbers included.
    public var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The number as a whole one; nil when it has a fraction, when `Int` cannot hold it, or for any other kind.
    public var int: Int? {
        switch self {
        case .int(let value): Int(exactly: value)
        case .uint(let value): Int(exactly: value)
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number; nil for any other kind.
    ///
    /// Whole numbers above 2^53 are rounded to the nearest double.
    public var double: Double? {
        switch self {
        case .int(let value): Double(value)
        case .uint(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The string; nil for any other kind, numbers included.
    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The elements; nil for any other kind.
    public var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members; nil for any other kind.
    public var object: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// Without the members and elements that are `null`, at every level; the value itself stays even if it is.
    public var removingNulls: JSONValue {
        switch self {
        case .array(let elements):
            .array(elements.filter { !$0.isNull }.map(\.removingNulls))
        case .object(let members):
            .object(members.filter { !$0.value.isNull }.mapValues(\.removingNulls))
        default:
            self
        }
    }
}
