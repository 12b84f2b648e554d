/// Turns a tree of parameters into the names and values of a form.
///
/// The members of an object stand in the order of their names' UTF-8 bytes, at every level; the elements of
/// an array keep their order.
struct QueryEncoder: Sendable {
    /// Levels of arrays and objects in one another: as many as any form needs, and no threat to the stack.
    static let depthLimit = 512

    var arrayStyle = FormArrayStyle.brackets
    var boolStyle = FormBoolStyle.numeric

    func query(from parameters: JSONValue) throws(SerializationError) -> String {
        FormWriter().text(of: try pairs(of: parameters))
    }

    /// The names and values, names in the shape `outer[inner]`.
    ///
    /// Empty arrays and objects yield nothing, null yields a name without a value.
    func pairs(of parameters: JSONValue) throws(SerializationError) -> [FormPair] {
        guard case .object(let members) = parameters else {
            throw .invalidParameters(
                "a form needs an object at its top, not \(Self.kind(of: parameters)): give the value a name"
            )
        }
        var pairs: [FormPair] = []
        pairs.reserveCapacity(members.count)
        for (key, value) in Self.sorted(members) {
            try append(value, named: key, depth: 1, to: &pairs)
        }
        return pairs
    }

    private func append(_ value: JSONValue, named name: String, depth: Int, to pairs: inout [FormPair])
        throws(SerializationError)
    {
        guard depth < Self.depthLimit else {
            throw .invalidParameters("more than \(Self.depthLimit) levels in one another")
        }
        switch value {
        case .object(let members):
            for (key, member) in Self.sorted(members) {
                try append(member, named: "\(name)[\(key)]", depth: depth + 1, to: &pairs)
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                let elementName = arrayStyle.name(of: index, in: name)
                try append(element, named: elementName, depth: depth + 1, to: &pairs)
            }
        case .null: pairs.append(FormPair(name: name, value: nil))
        case .bool(let flag): pairs.append(FormPair(name: name, value: boolStyle.text(flag)))
        case .int(let number): pairs.append(FormPair(name: name, value: String(number)))
        case .uint(let number): pairs.append(FormPair(name: name, value: String(number)))
        case .double(let number): pairs.append(FormPair(name: name, value: try Self.text(of: number)))
        case .string(let text): pairs.append(FormPair(name: name, value: text))
        }
    }

    /// The number as text: `1` for 1.0, else the shortest that reads back as the same number.
    private static func text(of number: Double) throws(SerializationError) -> String {
        guard number.isFinite else {
            throw .invalidParameters("a number that is infinite or not a number has no form")
        }
        return Int64(exactly: number).map(String.init) ?? String(number)
    }

    private static func sorted(_ members: [String: JSONValue]) -> [(key: String, value: JSONValue)] {
        members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    private static func kind(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "a boolean"
        case .int, .uint, .double: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
