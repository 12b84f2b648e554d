/// Turns the tree of an `Encodable` value into names and values.
struct FormFlattener {
    let options: URLEncodedFormEncoder

    func pairs(of root: FormNode) throws(SerializationError) -> [FormPair] {
        guard case .object(let members) = root.content else {
            throw .invalidParameters(
                "a form needs an object at its top, not an array, a single value or nil: give the value a name"
            )
        }
        var pairs: [FormPair] = []
        for (name, node) in named(members) { append(node, named: name, to: &pairs) }
        return pairs
    }

    private func append(_ node: FormNode, named name: String, to pairs: inout [FormPair]) {
        switch node.content {
        case .undecided: break
        case .null:
            switch options.nilStyle {
            case .dropKey: break
            case .dropValue: pairs.append(FormPair(name: name, value: ""))
            case .null: pairs.append(FormPair(name: name, value: "null"))
            }
        case .text(let text): pairs.append(FormPair(name: name, value: text))
        case .array(let elements): append(elements, named: name, to: &pairs)
        case .object(let members):
            for (key, member) in named(members) {
                append(member, named: name + options.keyPathStyle.suffix(for: key), to: &pairs)
            }
        }
    }

    private func append(_ elements: [FormNode], named name: String, to pairs: inout [FormPair]) {
        var groups: [[FormPair]] = []
        for (index, element) in elements.enumerated() {
            var group: [FormPair] = []
            append(element, named: options.arrayStyle.name(of: index, in: name), to: &group)
            groups.append(group)
        }
        if options.sortsKeys, case .brackets = options.arrayStyle, Self.areOfSeveralKinds(elements) {
            groups = sorted(groups)
        }
        for group in groups { pairs += group }
    }

    /// The members with the names that they have in the form.
    private func named(_ members: FormNode.Members) -> [(name: String, node: FormNode)] {
        let named = members.list.map { (name: options.keyStyle.name($0.key), node: $0.node) }
        guard options.sortsKeys else { return named }
        return named.enumerated()
            .sorted { left, right in
                if left.element.name == right.element.name { return left.offset < right.offset }
                return left.element.name.utf8.lexicographicallyPrecedes(right.element.name.utf8)
            }
            .map(\.element)
    }

    /// Sorts by the first name as it is written, with the equals sign that ends it; equal ones keep their order.
    private func sorted(_ groups: [[FormPair]]) -> [[FormPair]] {
        let writer = FormWriter(allowed: options.allowedCharacters, spaces: options.spaceStyle)
        return groups.enumerated()
            .map { (name: $1.first.map { writer.escape($0.name) + "=" } ?? "", offset: $0, group: $1) }
            .sorted { ($0.name, $0.offset) < ($1.name, $1.offset) }
            .map(\.group)
    }

    /// Whether values, arrays and objects are mixed, so that `[]` does not tell a server their order anyway.
    private static func areOfSeveralKinds(_ elements: [FormNode]) -> Bool {
        Set(
            elements.map { element in
                switch element.content {
                case .undecided, .null, .text: 0
                case .array: 1
                case .object: 2
                }
            }
        ).count > 1
    }
}
