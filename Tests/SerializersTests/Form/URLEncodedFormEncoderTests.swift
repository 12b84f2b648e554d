import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite struct URLEncodedFormEncoderTests {
    static func encode(
        _ value: some Encodable,
        _ change: (inout URLEncodedFormEncoder) -> Void = { _ in }
    ) throws -> String {
        var encoder = URLEncodedFormEncoder()
        change(&encoder)
        return try encoder.encode(value)
    }

    @Test func `case 290: a dictionary is a form`() throws {
        #expect(try Self.encode(["a": "a"]) == "a=a")
        #expect(try Self.encode([String: String]()).isEmpty)
    }

    @Test func `case 292: a decimal is written as its text`() throws {
        #expect(try Self.encode(["a": try #require(Decimal(string: "1.123456"))]) == "a=1.123456")
    }

    @Test func `case 293: a double keeps its fraction`() throws {
        #expect(try Self.encode(["a": 1.0]) == "a=1.0")
        #expect(try Self.encode(["a": Float(0.1)]) == "a=0.1")
        #expect(throws: SerializationError.self) { try Self.encode(["a": Double.nan]) }
        #expect(throws: SerializationError.self) { try Self.encode(["a": Float.infinity]) }
    }

    @Test func `cases 295, 296: integers of every width are written alike`() throws {
        let texts = [
            try Self.encode(["a": Int8(1)]), try Self.encode(["a": Int16(1)]),
            try Self.encode(["a": Int32(1)]),
            try Self.encode(["a": Int64(1)]), try Self.encode(["a": 1]), try Self.encode(["a": Int128(1)]),
            try Self.encode(["a": UInt(1)]), try Self.encode(["a": UInt8(1)]),
            try Self.encode(["a": UInt16(1)]),
            try Self.encode(["a": UInt32(1)]), try Self.encode(["a": UInt64(1)]),
            try Self.encode(["a": UInt128(1)]),
        ]
        #expect(texts.allSatisfy { $0 == "a=1" })
        #expect(try Self.encode(["a": UInt64.max]) == "a=18446744073709551615")
    }

    @Test func `cases 298, 299: names of members are added in brackets, by dots or by a function`() throws {
        let value = ["a": ["b": "b"]]
        #expect(try Self.encode(value) { $0.keyPathStyle = .brackets } == "a%5Bb%5D=b")
        #expect(try Self.encode(value) { $0.keyPathStyle = .dots } == "a.b=b")
        #expect(try Self.encode(value) { $0.keyPathStyle = .custom { "-\($0)" } } == "a-b=b")
    }

    static let everything =
        "five%5Ba%5D=a&four%5B%5D=1&four%5B%5D=2&four%5B%5D=3&one=one&seven%5Ba%5D=a"
        + "&six%5Ba%5D%5Bb%5D=b&three=1&two=2"

    @Test func `case 301: a structure is sorted by name`() throws {
        #expect(try Self.encode(Everything()) == Self.everything)
    }

    @Test func `case 305: a structure can keep its own order`() throws {
        #expect(
            try Self.encode(Everything()) { $0.sortsKeys = false }
                == "one=one&two=2&three=1&four%5B%5D=1&four%5B%5D=2&four%5B%5D=3&five%5Ba%5D=a"
                + "&six%5Ba%5D%5Bb%5D=b&seven%5Ba%5D=a"
        )
    }

    @Test func `case 302: arrays of several kinds of elements are sorted by name`() throws {
        #expect(
            try Self.encode(Manual())
                == "root%5B%5D%5B%5D%5B%5D=1&root%5B%5D%5B%5D%5B%5D=2&root%5B%5D%5B%5D%5B%5D=3"
                + "&root%5B%5D%5B%5D=1&root%5B%5D%5B%5D=2&root%5B%5D%5B%5D=3"
                + "&root%5B%5D%5Ba%5D%5Bstring%5D=string"
        )
    }

    @Test func `elements of one kind keep their order`() throws {
        #expect(try Self.encode(["a": [3, 1, 2]]) == "a%5B%5D=3&a%5B%5D=1&a%5B%5D=2")
        let people = [["name": "tom", "age": "13"], ["name": "bob", "age": "14"]]
        #expect(
            try Self.encode(["list": people])
                == "list%5B%5D%5Bage%5D=13&list%5B%5D%5Bname%5D=tom"
                + "&list%5B%5D%5Bage%5D=14&list%5B%5D%5Bname%5D=bob"
        )
    }

    @Test func `more than ten indexes keep their order`() throws {
        let text = try Self.encode(["a": Array(0..<12)]) { $0.arrayStyle = .indexed }
        #expect(text == (0..<12).map { "a%5B\($0)%5D=\($0)" }.joined(separator: "&"))
    }

    static let child =
        "five%5Ba%5D=a&five%5Bb%5D=b&four%5B%5D=1&four%5B%5D=2&four%5B%5D=3&one=one&three=1&two=2"

    @Test func `cases 304, 310: a subclass shares the object of its superclass`() throws {
        #expect(try Self.encode(Child()) == Self.child)
        #expect(
            try Self.encode(Child()) { $0.arrayStyle = .indexed }
                == "five%5Ba%5D=a&five%5Bb%5D=b&four%5B0%5D=1&four%5B1%5D=2&four%5B2%5D=3&one=one&three=1&two=2"
        )
    }

    @Test func `case 311: a super encoder is a member`() throws {
        #expect(
            try Self.encode(ChildWithSuperEncoders()) { $0.arrayStyle = .indexed }
                == "five%5Ba%5D=a&five%5Bb%5D=b&four%5Bfive%5D=2&four%5Bfour%5D=one"
        )
    }

    @Test func `case 307, case 308: an array or a single value at the top is an error`() {
        for value in [[1] as any Encodable, "string", 1, Int?.none, Date.distantPast] {
            #expect {
                try Self.encode(value)
            } throws: { error in
                guard case SerializationError.invalidParameters(let text) = error else { return false }
                return text.contains("object")
            }
        }
    }

    @Test func `case 313: arrays in one another can be indexed`() throws {
        #expect(
            try Self.encode(Manual()) { $0.arrayStyle = .indexed }
                == "root%5B0%5D%5B0%5D=1&root%5B0%5D%5B1%5D=2&root%5B0%5D%5B2%5D=3"
                + "&root%5B1%5D%5Ba%5D%5Bstring%5D=string"
                + "&root%5B2%5D%5B0%5D%5B0%5D=1&root%5B2%5D%5B0%5D%5B1%5D=2&root%5B2%5D%5B0%5D%5B2%5D=3"
        )
    }

    @Test func `cases 314, 316: objects in an array can be indexed`() throws {
        #expect(
            try Self.encode(["foo": [["bar": 2], ["qux": 3], ["quy": 4]]]) { $0.arrayStyle = .indexed }
                == "foo%5B0%5D%5Bbar%5D=2&foo%5B1%5D%5Bqux%5D=3&foo%5B2%5D%5Bquy%5D=4"
        )
        #expect(
            try Self.encode(["foo": [["bar": true], ["qux": false], ["quy": true]]]) {
                $0.arrayStyle = .indexed
                $0.boolStyle = .numeric
            } == "foo%5B0%5D%5Bbar%5D=1&foo%5B1%5D%5Bqux%5D=0&foo%5B2%5D%5Bquy%5D=1"
        )
    }

    @Test func `case 317: an array can repeat its name or be named by a function`() throws {
        #expect(try Self.encode(["array": [1, 2]]) { $0.arrayStyle = .repeatedKey } == "array=1&array=2")
        #expect(
            try Self.encode(["array": [1, 2]]) { $0.arrayStyle = .custom { "\($0).\($1 + 1)" } }
                == "array.1=1&array.2=2"
        )
    }

    @Test func `case 319: booleans can be literal`() throws {
        #expect(try Self.encode(["bool": true]) { $0.boolStyle = .literal } == "bool=true")
    }

    @Test func `more levels than a form needs are an error, not a crash`() {
        final class Endless: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(self)
            }
        }
        #expect(throws: SerializationError.self) { try Self.encode(["a": Endless()]) }
    }

    @Test func `an error of the value itself comes out as it is`() {
        struct Broken: Error {}
        struct Value: Encodable {
            func encode(to encoder: any Encoder) throws { throw Broken() }
        }
        #expect {
            try Self.encode(["a": Value()])
        } throws: { error in
            guard case SerializationError.custom(let underlying) = error else { return false }
            return underlying is Broken
        }
    }

    private enum Key: CodingKey { case list, one, two }

    @Test func `what a superclass encodes by itself stands under its own name`() throws {
        class Base: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(1, forKey: .one)
            }
        }
        final class Derived: Base {
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(2, forKey: .two)
                try super.encode(to: container.superEncoder())
                var list = container.nestedUnkeyedContainer(forKey: .list)
                try super.encode(to: list.superEncoder())
            }
        }
        #expect(try Self.encode(Derived()) == "list%5B%5D%5Bone%5D=1&super%5Bone%5D=1&two=2")
    }

    @Test func `a name that is written twice keeps its place and has its last value`() throws {
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(1, forKey: .two)
                try container.encode(2, forKey: .one)
                try container.encode(3, forKey: .two)
            }
        }
        #expect(try Self.encode(Twice()) { $0.sortsKeys = false } == "two=3&one=2")
    }

    @Test func `nil in a list is treated as every nil`() throws {
        struct Gap: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                var list = container.nestedUnkeyedContainer(forKey: .list)
                try list.encodeNil()
                try list.encode(1)
            }
        }
        #expect(try Self.encode(Gap()) == "list%5B%5D=1")
        #expect(try Self.encode(Gap()) { $0.nilStyle = .null } == "list%5B%5D=null&list%5B%5D=1")
    }
}
