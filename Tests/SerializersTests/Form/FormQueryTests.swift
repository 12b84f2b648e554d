import Serializers
import Testing

@Suite struct FormQueryTests {
    static let vectors: [FormVector<JSONValue>] = [
        .init("184", ["b": "2", "a": "1", "c": "3"], "a=1&b=2&c=3"),
        .init("185", ["B": 1, "a": 2, "A": 3, "b": 4], "A=3&B=1&a=2&b=4"),
        .init("187 (names are text by type)", ["1": "one", "2": "two", "10": "ten"], "1=one&10=ten&2=two"),
        .init("188", ["a": [1, 2, 3]], "a%5B%5D=1&a%5B%5D=2&a%5B%5D=3"),
        .init("191", ["a": ["c": 2, "b": 1]], "a%5Bb%5D=1&a%5Bc%5D=2"),
        .init("193", ["a": [[1, 2], [3]]], "a%5B%5D%5B%5D=1&a%5B%5D%5B%5D=2&a%5B%5D%5B%5D=3"),
        .init(
            "194",
            ["a": ["b": ["c": [1, ["d": 2]]]]],
            "a%5Bb%5D%5Bc%5D%5B%5D=1&a%5Bb%5D%5Bc%5D%5B%5D%5Bd%5D=2"
        ),
        .init(
            "196",
            ["name": "jack", "friendList": [["name": "tom", "age": 13], ["name": "bob", "age": 14]]],
            "friendList%5B%5D%5Bage%5D=13&friendList%5B%5D%5Bname%5D=tom"
                + "&friendList%5B%5D%5Bage%5D=14&friendList%5B%5D%5Bname%5D=bob&name=jack"
        ),
        .init("197 array", ["a": []], ""),
        .init("197 object", ["a": [:]], ""),
        .init("199", ["a": nil, "b": 1], "a&b=1"),
        .init("200", ["a": [nil, "x"]], "a%5B%5D&a%5B%5D=x"),
        .init("202", ["": "x"], "=x"),
        .init("203", ["a": true, "b": false], "a=1&b=0"),
        .init("236", [:], ""),
        .init("239", ["foo": "bar", "baz": "qux"], "baz=qux&foo=bar"),
        .init("241", ["foo": false], "foo=0"),
        .init("242", ["foo": 1], "foo=1"),
        .init("244", ["foo": true], "foo=1"),
        .init("245", ["foo": ["a", 1, true]], "foo%5B%5D=a&foo%5B%5D=1&foo%5B%5D=1"),
        .init("250", ["foo": ["bar": ["baz": 1]]], "foo%5Bbar%5D%5Bbaz%5D=1"),
        .init(
            "251",
            ["foo": ["bar": ["baz": ["a", 1, true]]]],
            "foo%5Bbar%5D%5Bbaz%5D%5B%5D=a&foo%5Bbar%5D%5Bbaz%5D%5B%5D=1&foo%5Bbar%5D%5Bbaz%5D%5B%5D=1"
        ),
    ]

    @Test(arguments: vectors)
    func `cases 184–203, 236–251: names are sorted, nested and bracketed`(
        vector: FormVector<JSONValue>
    ) throws {
        #expect(
            try FormRequestSerializer().query(from: vector.input) == vector.output
        )
    }

    @Test func `names are compared by their UTF-8 bytes, as deep as they go`() throws {
        let query = try FormRequestSerializer().query(from: [
            "o": ["é": 1, "z": 2, "a10": 3, "a2": 4, "a1": 5]
        ])
        #expect(query == "o%5Ba1%5D=5&o%5Ba10%5D=3&o%5Ba2%5D=4&o%5Bz%5D=2&o%5B%C3%A9%5D=1")
    }

    @Test
    func `cases 190, 197: a set has no JSON form and cannot be given by type, an array keeps its order`()
        throws
    {
        #expect(
            try FormRequestSerializer().query(from: ["a": [10, 9, 1]])
                == "a%5B%5D=10&a%5B%5D=9&a%5B%5D=1"
        )
    }

    @Test func `case 247: an array can repeat its name`() throws {
        var serializer = FormRequestSerializer()
        serializer.arrayStyle = .repeatedKey
        #expect(try serializer.query(from: ["foo": ["a", 1, true]]) == "foo=a&foo=1&foo=1")
    }

    @Test func `case 248: an array can be named by a function`() throws {
        var serializer = FormRequestSerializer()
        serializer.arrayStyle = .custom { key, index in "\(key).\(index + 1)" }
        #expect(try serializer.query(from: ["foo": ["a", 1, true]]) == "foo.1=a&foo.2=1&foo.3=1")
    }

    @Test func `report 11: indexes tell which members belong together`() throws {
        var serializer = FormRequestSerializer()
        let list: JSONValue = ["list": [["name": "tom", "age": 13], ["name": "bob", "age": 14]]]
        #expect(
            try serializer.query(from: list)
                == "list%5B%5D%5Bage%5D=13&list%5B%5D%5Bname%5D=tom"
                + "&list%5B%5D%5Bage%5D=14&list%5B%5D%5Bname%5D=bob"
        )
        serializer.arrayStyle = .indexed
        #expect(
            try serializer.query(from: list)
                == "list%5B0%5D%5Bage%5D=13&list%5B0%5D%5Bname%5D=tom"
                + "&list%5B1%5D%5Bage%5D=14&list%5B1%5D%5Bname%5D=bob"
        )
    }

    @Test func `case 253: literal booleans leave numbers alone, and whole doubles print as integers`() throws
    {
        var serializer = FormRequestSerializer()
        serializer.boolStyle = .literal
        let parameters: JSONValue = [
            "a": 1, "b": 0, "c": 1.0, "d": 0.0, "e": .int(1), "f": .int(0), "g": .double(1.0),
            "h": .double(0.0),
            "i": true, "j": false, "k": .bool(true), "l": .bool(false),
        ]
        #expect(
            try serializer.query(from: parameters)
                == "a=1&b=0&c=1&d=0&e=1&f=0&g=1&h=0&i=true&j=false&k=true&l=false"
        )
    }

    @Test func `numbers print in full and read back`() throws {
        let parameters: JSONValue = [
            "a": .int(.min), "b": .uint(.max), "c": 0.1, "d": -1.5, "e": 1e16, "f": 1e300, "g": -0.0,
        ]
        #expect(
            try FormRequestSerializer().query(from: parameters)
                == "a=-9223372036854775808&b=18446744073709551615&c=0.1&d=-1.5&e=10000000000000000"
                + "&f=1e%2B300&g=0"
        )
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `a number without a text is refused`(number: Double) {
        #expect(throws: SerializationError.self) {
            try FormRequestSerializer().query(from: ["a": .double(number)])
        }
    }

    @Test(arguments: [JSONValue.string("x"), ["a", "b"], 1, true, nil])
    func `a top level that is no object is refused`(parameters: JSONValue) throws {
        #expect {
            try FormRequestSerializer().query(from: parameters)
        } throws: { error in
            guard case SerializationError.invalidParameters(let text) = error else { return false }
            return text.contains("object")
        }
    }

    @Test func `more levels than a form needs are refused, not a crash`() throws {
        func nested(_ levels: Int) -> JSONValue {
            (0..<levels).reduce(1) { value, _ in .array([value]) }
        }
        #expect(try FormRequestSerializer().query(from: ["a": nested(500)]).hasSuffix("=1"))
        #expect(throws: SerializationError.self) {
            try FormRequestSerializer().query(from: ["a": nested(600)])
        }
    }
}
