import FoundationEssentials
import Serializers
import Testing

@Suite("JSON values") struct JSONValueTests {
    private struct User: Codable, Equatable {
        var name: String
        var score: Double?
        var tags = ["a"]
    }

    private struct Refusal: Error, Encodable {
        func encode(to encoder: any Encoder) throws { throw self }
    }

    private let value: JSONValue = [
        "name": "x", "page": 1, "ratio": 0.5, "whole": 2.0, "on": true, "none": nil, "list": [1, [nil]],
    ]

    @Test func `subscripts find members and elements, and nothing elsewhere`() {
        #expect(value["list"]?[0] == 1)
        #expect(value["list"]?[1]?[0] == .null)
        #expect(value["list"]?[2] == nil)
        #expect(value["list"]?[-1] == nil)
        #expect(value["other"] == nil)
        #expect(value["none"]?.isNull == true)
        #expect(value[0] == nil)
        #expect(value["name"]?["x"] == nil)
    }

    @Test func `accessors give the value of their kind only`() {
        #expect(value["name"]?.string == "x")
        #expect(value["page"]?.int == 1)
        #expect(value["page"]?.double == 1)
        #expect(value["whole"]?.int == 2)
        #expect(value["ratio"]?.int == nil)
        #expect(value["ratio"]?.double == 0.5)
        #expect(value["on"]?.bool == true)
        #expect(value["on"]?.int == nil)
        #expect(value["page"]?.bool == nil)
        #expect(value["page"]?.string == nil)
        #expect(value["list"]?.array?.count == 2)
        #expect(value.object?.count == 7)
        #expect(JSONValue.uint(.max).int == nil)
        #expect(JSONValue.double(1e300).int == nil)
        #expect(JSONValue.double(.nan).int == nil)
    }

    @Test func `values are made of variables as well as of literals`() throws {
        let (count, name) = (3, "y")
        #expect(JSONValue(count) == 3)
        #expect(JSONValue(name) == "y")
        #expect(JSONValue(0.5) == 0.5)
        #expect(JSONValue(false) == false)
        #expect(JSONValue(UInt64.max) == .uint(.max))
        #expect(JSONValue(UInt64(7)) == .int(7))
        #expect(JSONValue([JSONValue(count)]) == [3])
    }

    @Test func `an encodable value becomes a tree and comes back`() throws {
        let user = User(name: "z", score: 1.5)
        let tree = try JSONValue(user)
        #expect(tree == ["name": "z", "score": 1.5, "tags": ["a"]])
        #expect(try tree.decode(User.self) == user)
        #expect(try JSONValue(["a": [1, 2]]) == ["a": [1, 2]])
    }

    @Test func `a value without a JSON form is refused with its place`() {
        #expect {
            try JSONValue(User(name: "z", score: .nan))
        } throws: { error in
            guard case SerializationError.invalidParameters(let reason) = error else { return false }
            return reason.contains("score")
        }
        #expect {
            try JSONValue(Refusal())
        } throws: { error in
            guard case SerializationError.custom(let cause) = error else { return false }
            return cause is Refusal
        }
    }

    @Test func `a tree of another shape is undecodable`() {
        #expect {
            try value.decode([User].self)
        } throws: { error in
            guard case SerializationError.undecodable(let type, let cause) = error else { return false }
            return type == "Array<User>" && cause is DecodingError
        }
    }

    @Test func `a tree passes through any coder unchanged`() throws {
        let tree: JSONValue = [
            "a": [nil, true, 1, -1, 1.5, "x", [:], []], "b": .uint(.max), "c": ["d": ["e": 0]],
        ]
        #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(tree)) == tree)
    }

    @Test func `nulls are removed at every level, empty containers stay`() throws {
        let tree = try JSONValue(parsing: #"{"a":{"b":null,"c":[1,null,{"d":null}]},"e":null}"#)
        #expect(tree.removingNulls == ["a": ["c": [1, [:]]]])
        #expect(JSONValue.null.removingNulls == .null)
    }
}
