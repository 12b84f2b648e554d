package import Serializers

extension JSONValue {
    /// The tree with every value as the text that a form has for it, which is what servers see.
    package var asTexts: JSONValue {
        switch self {
        case .null: ""
        case .bool(let flag): flag ? "1" : "0"
        case .int(let number): .string(String(number))
        case .uint(let number): .string(String(number))
        case .double(let number): .string(String(number))
        case .string: self
        case .array(let elements): .array(elements.map(\.asTexts))
        case .object(let members): .object(members.mapValues(\.asTexts))
        }
    }
}
