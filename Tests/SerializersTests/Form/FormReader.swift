import Serializers

/// Reads forms as servers do, to see what comes out at the other end.
struct FormReader {
    /// Whose rules.
    enum Rules {
        /// `[]` always begins a new element; objects whose names are 0, 1, 2 … are arrays.
        case php
        /// `[][name]` goes on with the last element as long as that has no such member.
        case rails
    }

    let rules: Rules

    /// Everything is a string, an array or an object; a bare name has an empty string.
    func read(_ form: String) -> JSONValue {
        var root = JSONValue.object([:])
        for pair in form.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = halves.count == 2 ? Self.decoded(halves[1]) : ""
            let (first, path) = Self.path(of: Self.decoded(halves[0]))
            root = put(.string(value), at: [first] + path, in: root)
        }
        return rules == .php ? Self.withArrays(root) : root
    }

    /// The name in front of the brackets and those in them: `a[b][]` is a, b and an empty one.
    private static func path(of name: String) -> (String, [String]) {
        guard let open = name.firstIndex(of: "["), open > name.startIndex else { return (name, []) }
        var keys: [String] = []
        var rest = name[open...]
        while rest.first == "[", let close = rest.firstIndex(of: "]") {
            keys.append(String(rest[rest.index(after: rest.startIndex)..<close]))
            rest = rest[rest.index(after: close)...]
        }
        return (String(name[..<open]), keys)
    }

    private func put(_ value: JSONValue, at path: [String], in tree: JSONValue?) -> JSONValue {
        guard let key = path.first else { return value }
        let rest = Array(path.dropFirst())
        guard !key.isEmpty || tree.isObject else {
            var elements: [JSONValue] = if case .array(let elements)? = tree { elements } else { [] }
            if rules == .rails, let member = rest.first, !member.isEmpty,
                case .object(let last)? = elements.last, !Self.has(rest, in: last)
            {
                elements[elements.count - 1] = put(value, at: rest, in: elements.last)
            } else {
                elements.append(put(value, at: rest, in: nil))
            }
            return .array(elements)
        }
        var members: [String: JSONValue] = if case .object(let members)? = tree { members } else { [:] }
        members[key] = put(value, at: rest, in: members[key])
        return .object(members)
    }

    private static func has(_ path: [String], in members: [String: JSONValue]) -> Bool {
        guard let key = path.first, let value = members[key] else { return false }
        guard path.count > 1, case .object(let inner) = value else { return true }
        return has(Array(path.dropFirst()), in: inner)
    }

    private static func withArrays(_ tree: JSONValue) -> JSONValue {
        switch tree {
        case .array(let elements): return .array(elements.map(withArrays))
        case .object(let members):
            let indexed = (0..<members.count).compactMap { members[String($0)] }
            if !members.isEmpty, indexed.count == members.count { return .array(indexed.map(withArrays)) }
            return .object(members.mapValues(withArrays))
        default: return tree
        }
    }

    static func decoded(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JSONValue? {
    fileprivate var isObject: Bool {
        if case .object? = self { true } else { false }
    }
}
