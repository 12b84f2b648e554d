/// JSON as it is put together for an answer; small, and independent of the serializers under test.
indirect enum JSONText {
    case string(String)
    case number(Int)
    case bool(Bool)
    case null
    case array([JSONText])
    /// Members in order.
    case object([(name: String, value: JSONText)])
    /// A text that is JSON already.
    case raw(String)

    /// An object whose repeated names become arrays, as httpbin shows queries and forms.
    static func grouped(_ pairs: [(name: String, value: String)]) -> JSONText {
        var order: [String] = []
        var values: [String: [JSONText]] = [:]
        for (name, value) in pairs {
            if values[name] == nil { order.append(name) }
            values[name, default: []].append(.string(value))
        }
        return .object(
            order.map { name in
                let all = values[name] ?? []
                return (name, all.count == 1 ? all[0] : .array(all))
            }
        )
    }

    /// The JSON text (RFC 8259), without white space.
    var text: String {
        switch self {
        case .string(let value): Self.quoted(value)
        case .number(let value): String(value)
        case .bool(let value): value ? "true" : "false"
        case .null: "null"
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",") + "}"
        case .raw(let text): text
        }
    }

    private static func quoted(_ value: String) -> String {
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
