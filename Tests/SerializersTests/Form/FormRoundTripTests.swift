import FormValues
import SeededRandom
import Serializers
import Testing

/// What a server reads is what was sent.
@Suite struct FormRoundTripTests {
    /// Makes trees that a form can carry: arrays and objects are never empty, names have no brackets.
    struct TreeMaker {
        var random: SplitMix64

        mutating func object(depth: Int) -> JSONValue {
            var members: [String: JSONValue] = [:]
            for _ in 0..<Int.random(in: 1...4, using: &random) { members[name()] = value(depth: depth) }
            return .object(members)
        }

        mutating func value(depth: Int) -> JSONValue {
            switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
            case 0: .null
            case 1: .bool(.random(using: &random))
            case 2: .int(.random(in: .min ... .max, using: &random))
            case 3: .uint(.random(in: .min ... .max, using: &random))
            case 4: .double(.random(in: 0.001...1000, using: &random))
            case 5: .string(text())
            case 6: object(depth: depth - 1)
            default: array(depth: depth - 1)
            }
        }

        mutating func array(depth: Int) -> JSONValue {
            var elements: [JSONValue] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) { elements.append(value(depth: depth)) }
            return .array(elements)
        }

        mutating func name() -> String {
            // Begins with a letter, so that no object looks like an array.
            "n" + text().filter { $0 != "[" && $0 != "]" }
        }

        mutating func text() -> String {
            let characters = Array("aZ09 +%&=#?/[]\"'\\\r\n\t\u{0}é日👴🏿;:@,$!*()")
            let count = Int.random(in: 0...8, using: &random)
            return String(
                (0..<count).map { _ in characters[Int.random(in: 0..<characters.count, using: &random)] }
            )
        }
    }

    @Test(arguments: UInt64(0)..<100)
    func `indexed forms are read by PHP's rules as they were written`(seed: UInt64) throws {
        var maker = TreeMaker(random: SplitMix64(seed: seed))
        let tree = maker.object(depth: 4)
        var serializer = FormRequestSerializer()
        serializer.arrayStyle = .indexed
        let form = try serializer.query(from: tree)
        #expect(FormReader(rules: .php).read(form) == tree.asTexts)
    }

    @Test(arguments: [FormReader.Rules.php, .rails])
    func `case 188, case 191: objects in one another and arrays of values are read by both rules`(
        rules: FormReader.Rules
    ) throws {
        let tree: JSONValue = ["a": ["b": ["c": [3, 1, "x y", nil, true]]], "d": "+&="]
        let form = try FormRequestSerializer().query(from: tree)
        #expect(FormReader(rules: rules).read(form) == tree.asTexts)
    }

    @Test func `case 196: an array of like objects is read by Rails' rules, not by PHP's`() throws {
        let tree: JSONValue = ["list": [["name": "tom", "age": 13], ["name": "bob", "age": 14]]]
        let form = try FormRequestSerializer().query(from: tree)
        #expect(FormReader(rules: .rails).read(form) == tree.asTexts)
        #expect(
            FormReader(rules: .php).read(form)
                == ["list": [["age": "13"], ["name": "tom"], ["age": "14"], ["name": "bob"]]]
        )
    }

    @Test(arguments: UInt64(0)..<50)
    func `an Encodable value and its JSON tree make the same form`(seed: UInt64) throws {
        var maker = TreeMaker(random: SplitMix64(seed: seed))
        guard case .object(let members) = maker.object(depth: 3).asTexts else { return }
        let value = members.mapValues(Mirrored.init)
        #expect(
            try URLEncodedFormEncoder().encode(value) == FormRequestSerializer().query(from: .object(members))
                || members.values.contains(where: \.hasMixedArray)
        )
    }

    /// Encodes strings, arrays and objects as themselves.
    struct Mirrored: Encodable {
        let value: JSONValue

        func encode(to encoder: any Encoder) throws {
            switch value {
            case .array(let elements): try elements.map(Mirrored.init).encode(to: encoder)
            case .object(let members): try members.mapValues(Mirrored.init).encode(to: encoder)
            case .string(let text): try text.encode(to: encoder)
            default: Issue.record("only strings are expected")
            }
        }
    }
}

extension JSONValue {
    /// Whether an array somewhere has elements of several kinds, which the encoder sorts.
    fileprivate var hasMixedArray: Bool {
        switch self {
        case .array(let elements):
            let kinds = Set(
                elements.map { if case .array = $0 { 1 } else if case .object = $0 { 2 } else { 0 } }
            )
            return kinds.count > 1 || elements.contains(where: \.hasMixedArray)
        case .object(let members): return members.values.contains(where: \.hasMixedArray)
        default: return false
        }
    }
}
