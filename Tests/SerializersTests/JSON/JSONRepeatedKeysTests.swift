import FoundationEssentials
import Serializers
import Testing

/// Objects with keys that were there before are read by a shorter way: it must lead to the same.
@Suite("JSON objects with the same keys") struct JSONRepeatedKeysTests {
    /// A text and the tree that it stands for, made together.
    private struct Document {
        var generator: SystemRandomNumberGenerator
        var text = ""

        mutating func value(depth: Int) -> JSONValue {
            switch Int.random(in: 0..<(depth < 4 ? 8 : 3), using: &generator) {
            case 0:
                let number = Int64.random(in: -5...5, using: &generator)
                text += "\(number)"
                return .int(number)
            case 1:
                text += "\"v\""
                return "v"
            case 2:
                text += "null"
                return nil
            case 3, 4:
                return array(depth: depth)
            default:
                return object(depth: depth)
            }
        }

        private mutating func array(depth: Int) -> JSONValue {
            var elements: [JSONValue] = []
            text += "["
            for index in 0..<Int.random(in: 0...6, using: &generator) {
                if index > 0 { text += "," }
                elements.append(value(depth: depth + 1))
            }
            text += "]"
            return .array(elements)
        }

        /// Few keys in any order, also twice, and one of them in two spellings.
        private mutating func object(depth: Int) -> JSONValue {
            let keys = [
                ("a", "a"), ("b", "b"), ("ab", "ab"), ("\\u0061", "a"), ("é", "é"), ("", ""),
                ("c\\nd", "c\nd"),
            ]
            var members: [String: JSONValue] = [:]
            text += "{"
            for index in 0..<Int.random(in: 0...5, using: &generator) {
                let key = keys[Int.random(in: 0..<keys.count, using: &generator)]
                text += (index > 0 ? "," : "") + (Bool.random(using: &generator) ? " " : "") + "\"\(key.0)\":"
                members[key.1] = value(depth: depth + 1)
            }
            text += "}"
            return .object(members)
        }
    }

    @Test func `random texts of few keys give the trees that they were made with`() throws {
        for _ in 0..<300 {
            var document = Document(generator: SystemRandomNumberGenerator())
            let tree = document.value(depth: 0)
            #expect(try JSONValue(parsing: document.text) == tree, "\(document.text)")
        }
    }

    @Test func `the values of each object are its own`() throws {
        let objects = (0..<50).map { #"{"id":\#($0),"tags":["\#($0)"],"in":{"id":-\#($0)}}"# }
        let tree = try JSONValue(parsing: "[" + objects.joined(separator: ",") + "]")
        for index in 0..<50 {
            let number = JSONValue(index), tag = JSONValue("\(index)")
            #expect(tree[index] == ["id": number, "tags": [tag], "in": ["id": .int(Int64(-index))]])
        }
    }

    @Test func `of a key that is there twice in every object the last value counts`() throws {
        let objects = (0..<10).map { #"{"a":0,"b":\#($0),"a":\#($0)}"# }
        let tree = try JSONValue(parsing: "[" + objects.joined(separator: ",") + "]")
        for index in 0..<10 { #expect(tree[index] == ["a": JSONValue(index), "b": JSONValue(index)]) }
    }

    @Test func `keys that Swift takes for equal are one key, however often they come`() throws {
        let object = "{\"\u{e9}\":1,\"e\u{301}\":2}"
        let tree = try JSONValue(parsing: "[\(object),\(object),\(object)]")
        #expect(tree == [["é": 2], ["é": 2], ["é": 2]])
    }

    @Test(arguments: [0, 1, 2, 9, 17, 127, 128, 129, 300])
    func `objects of many keys are read alike the first and the third time`(count: Int) throws {
        let members = (0..<count).map { (String(repeating: "k", count: $0 % 20) + "\($0)", $0) }
        let object = "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
        let expected = JSONValue.object(
            Dictionary(uniqueKeysWithValues: members.map { ($0.0, JSONValue($0.1)) })
        )
        #expect(try JSONValue(parsing: "[\(object),\(object),\(object)]") == [expected, expected, expected])
        #expect(
            try JSONValue(parsing: "{\"x\":\(object),\"y\":\(object)}") == ["x": expected, "y": expected]
        )
    }

    @Test func `more kinds of objects than are kept are read all the same`() throws {
        let objects = (0..<2000).map { #"{"kind\#($0)":\#($0),"name":"n"}"# }
        let text = "[" + (objects + objects).joined(separator: ",") + "]"
        let tree = try JSONValue(parsing: text)
        for index in 0..<4000 {
            #expect(tree[index] == ["kind\(index % 2000)": JSONValue(index % 2000), "name": "n"])
        }
    }

    @Test(arguments: [
        (#"[{"a":1},{"a"1}]"#, 13), (#"[{"a":1},{"a"#, 12), (#"[{"a":1},{"a":1"#, 15),
        (#"[{"a":1},{"a":1,}]"#, 16),
        (#"[{"ab":1},{"a":1},{"ab:1}]"#, 26), (#"[{"a":1},{a":1}]"#, 10),
    ])
    func `what is wrong in a later object is told with its offset`(text: String, offset: Int) {
        #expect(throws: SerializationError.self) { try JSONValue(parsing: text) }
        do {
            _ = try JSONValue(parsing: text)
        } catch {
            guard case .malformedJSON(_, offset) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }
}
