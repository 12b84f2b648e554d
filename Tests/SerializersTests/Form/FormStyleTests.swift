import Foundation
import HTTPMessage
import Serializers
import Testing

@Suite struct FormStyleTests {
    private typealias Base = URLEncodedFormEncoderTests

    /// 2001-01-01T00:02:03.456Z.
    static let date = ["date": Date(timeIntervalSinceReferenceDate: 123.456)]

    @Test func `case 320: data is base64, or as it encodes itself, or by a function`() throws {
        let value = ["data": Data("data".utf8)]
        #expect(try Base.encode(value) == "data=ZGF0YQ%3D%3D")
        #expect(
            try Base.encode(value) { $0.dataStyle = .deferred }
                == "data%5B%5D=100&data%5B%5D=97&data%5B%5D=116&data%5B%5D=97"
        )
        #expect(try Base.encode(value) { $0.dataStyle = .custom { "\($0.count)" } } == "data=4")
    }

    @Test func `cases 322–326: dates have five styles`() throws {
        #expect(try Base.encode(Self.date) == "date=123.456")
        #expect(try Base.encode(Self.date) { $0.dateStyle = .secondsSince1970 } == "date=978307323.456")
        #expect(try Base.encode(Self.date) { $0.dateStyle = .millisecondsSince1970 } == "date=978307323456.0")
        #expect(try Base.encode(Self.date) { $0.dateStyle = .iso8601 } == "date=2001-01-01T00%3A02%3A03Z")
        let format = Date.VerbatimFormatStyle(
            format: """
                \(year: .defaultDigits)-\(month: .twoDigits)-\(day: .twoDigits) \
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
                \(second: .twoDigits).\(secondFraction: .fractional(4))
                """,
            locale: Locale(identifier: "en_US_POSIX"),
            timeZone: .gmt,
            calendar: Calendar(identifier: .gregorian)
        )
        #expect(
            try Base.encode(Self.date) { $0.dateStyle = .formatted(format) }
                == "date=2001-01-01%2000%3A02%3A03.4560"
        )
    }

    @Test func `case 328: an error of a date's function comes out as it is`() {
        struct Broken: Error {}
        #expect {
            try Base.encode(Self.date) { $0.dateStyle = .custom { _ in throw Broken() } }
        } throws: { error in
            guard case SerializationError.custom(let underlying) = error else { return false }
            return underlying is Broken
        }
    }

    @Test func `an optional date and an optional decimal are written as if they were none`() throws {
        struct Value: Encodable {
            var date: Date?
            var price: Decimal?
            var url: URL?
        }
        let value = Value(date: .init(timeIntervalSinceReferenceDate: 0), price: 1.5, url: URL(string: "a:b"))
        #expect(
            try Base.encode(value) { $0.dateStyle = .iso8601 }
                == "date=2001-01-01T00%3A00%3A00Z&price=1.5&url=a%3Ab"
        )
    }

    @Test func `cases 329–334: names have seven styles`() throws {
        let value = ["oneTwoThree": "oneTwoThree"]
        #expect(try Base.encode(value) == "oneTwoThree=oneTwoThree")
        #expect(try Base.encode(value) { $0.keyStyle = .snakeCase } == "one_two_three=oneTwoThree")
        #expect(try Base.encode(value) { $0.keyStyle = .kebabCase } == "one-two-three=oneTwoThree")
        #expect(try Base.encode(value) { $0.keyStyle = .capitalized } == "OneTwoThree=oneTwoThree")
        #expect(try Base.encode(value) { $0.keyStyle = .uppercased } == "ONETWOTHREE=oneTwoThree")
        #expect(try Base.encode(value) { $0.keyStyle = .lowercased } == "onetwothree=oneTwoThree")
        #expect(try Base.encode(value) { $0.keyStyle = .custom { _ in "A" } } == "A=oneTwoThree")
    }

    @Test(arguments: [
        ("", ""), ("a", "a"), ("A", "a"), ("aB", "a_b"), ("myURLPath2Go", "my_url_path2_go"), ("URL", "url"),
        ("already_snake", "already_snake"), ("Über", "über"), ("userID", "user_id"),
    ])
    func `words end before capitals, and capitals in a row are one word`(name: String, expected: String)
        throws
    {
        let text = try Base.encode([name: 1]) {
            $0.keyStyle = .snakeCase
            $0.allowedCharacters = FormCharacters("abcdefghijklmnopqrstuvwxyz0123456789_")
        }
        #expect(text.dropLast(2).replacing("%C3%BC", with: "ü") == expected)
    }

    @Test func `names of members in members are changed too, and sorted as they are written`() throws {
        #expect(
            try Base.encode(["aB": ["cD": 1], "ab": ["e": 2]]) { $0.keyStyle = .kebabCase }
                == "a-b%5Bc-d%5D=1&ab%5Be%5D=2"
        )
    }

    @Test func `cases 335–341: nil has three styles`() throws {
        let nothing: [String: String?] = ["a": nil]
        #expect(try Base.encode(nothing).isEmpty)
        #expect(try Base.encode(nothing) { $0.nilStyle = .null } == "a=null")
        #expect(try Base.encode(nothing) { $0.nilStyle = .dropValue } == "a=")
        #expect(try Base.encode(OneAndMaybeTwo()) == "one=one")
        #expect(try Base.encode(OneAndMaybeTwo()) { $0.nilStyle = .null } == "one=one&two=null")
        #expect(try Base.encode(OneAndMaybeTwo()) { $0.nilStyle = .dropValue } == "one=one&two=")
    }

    @Test func `nil of any type is seen, and nil in an array too`() throws {
        let names = [
            "bool", "double", "float", "int", "int16", "int32", "int64", "int8", "object", "string", "uint",
            "uint16", "uint32", "uint64", "uint8",
        ]
        #expect(
            try Base.encode(AllNil()) { $0.nilStyle = .null }
                == names.map { "\($0)=null" }.joined(separator: "&")
        )
        #expect(try Base.encode(["a": [1, nil, 2]]) == "a%5B%5D=1&a%5B%5D=2")
        #expect(
            try Base.encode(["a": [1, nil, 2]]) { $0.nilStyle = .dropValue } == "a%5B%5D=1&a%5B%5D=&a%5B%5D=2"
        )
        #expect(try Base.encode(["a": [1, nil, 2]]) { $0.arrayStyle = .indexed } == "a%5B0%5D=1&a%5B2%5D=2")
    }

    @Test func `case 343: the characters that are not escaped can be chosen`() throws {
        #expect(try Base.encode(["allowed": "?/"]) == "allowed=?/")
        #expect(try Base.encode(["allowed": "?/"]) { $0.allowedCharacters = .unreserved } == "allowed=%3F%2F")
        #expect(
            try Base.encode(["a": "[%&=+# é]\r"]) { $0.allowedCharacters = FormCharacters("a[]%&=+# é\r") }
                == "a=[%25%26%3D%2B%23%20%C3%A9]%0D"
        )
    }

    @Test func `case 344: letters and digits are not escaped`() throws {
        let value = [
            "lowercase": "abcdefghijklmnopqrstuvwxyz", "numbers": "0123456789",
            "uppercase": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        ]
        let text = value.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        #expect(try Base.encode(value) == text)
    }

    @Test(arguments: [
        (["foo&bar": "baz&qux", "foobar": "bazqux"], "foo%26bar=baz%26qux&foobar=bazqux"),
        (["?foo?": "?bar?"], "?foo?=?bar?"), (["foo": "/bar/baz/qux"], "foo=/bar/baz/qux"),
        ([" foo ": " bar "], "%20foo%20=%20bar%20"), (["+foo+": "+bar+"], "%2Bfoo%2B=%2Bbar%2B"),
        (["percent%": "%25"], "percent%25=%2525"),
    ])
    func `cases 346, 347: names and values are escaped alike`(value: [String: String], text: String) throws {
        #expect(try Base.encode(value) == text)
    }

    @Test func `a space can be a plus`() throws {
        #expect(try Base.encode([" foo ": "a + b"]) { $0.spaceStyle = .plus } == "+foo+=a+%2B+b")
    }

    @Test func `case 349: the encoders can be made without arguments`() throws {
        #expect(try URLEncodedFormEncoder().encode(["a": 1]) == "a=1")
    }
}
