import FoundationEssentials
import Serializers
import Testing

@Suite("Reading JSON") struct JSONParserTests {
    @Test func `case 448: any value may stand at the top level`() throws {
        #expect(try JSONValue(parsing: "\"x\"") == "x")
        #expect(try JSONValue(parsing: "1") == 1)
        #expect(try JSONValue(parsing: " true\r\n") == true)
        #expect(try JSONValue(parsing: "\tnull ") == .null)
    }

    @Test func `arrays and objects keep their values`() throws {
        let value = try JSONValue(parsing: #" { "a" : [ 1 , "two", {"b":[]} , {} ], "c": false }"#)
        #expect(value == ["a": [1, "two", ["b": []], [:]], "c": false])
    }

    @Test(arguments: [
        ("0", JSONValue.int(0)), ("-0", .int(0)), ("9223372036854775807", .int(.max)),
        ("-9223372036854775808", .int(.min)), ("9223372036854775808", .uint(1 << 63)),
        ("18446744073709551615", .uint(.max)), ("18446744073709551616", .double(0x1p64)),
        ("-9223372036854775809", .double(-0x1p63)), ("1.0", .double(1)), ("-0.0", .double(-0.0)),
        ("1e2", .double(100)), ("1E+2", .double(100)), ("5e-324", .double(.leastNonzeroMagnitude)),
        ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)), ("1e-400", .double(0)),
        ("9007199254740993.0", .double(9007199254740992)), ("0.1", .double(0.1)),
        ("123456789012345678e-17", .double(1.23456789012345678)),
        ("0e99999999999999999999", .double(0)), ("1e-99999999999999999999", .double(0)),
    ])
    func `a number is exact in 64 bits and else the nearest double`(text: String, value: JSONValue) throws {
        let read = try JSONValue(parsing: text)
        #expect(read == value)
        if case .double(let expected) = value { #expect(read.double?.sign == expected.sign) }
    }

    @Test func `a number of a million digits takes no quadratic time`() throws {
        let digits = String(repeating: "7", count: 1_000_000)
        #expect(try JSONValue(parsing: "0.\(digits)") == .double(0.7777777777777778))
        #expect(try JSONValue(parsing: "\(digits)e-999999") == .double(7.777777777777778))
    }

    @Test(arguments: [
        ("", 0), ("  ", 2), ("[", 1), ("[1", 2), ("[1,", 3), ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3),
        ("{", 1), ("{\"a\"", 4), ("{\"a\":", 5), ("{\"a\" 1}", 5), ("{\"a\":1,}", 7), ("{a:1}", 1),
        ("{1:1}", 1),
        ("[1}", 2), ("{\"a\":1]", 6), ("1 2", 2), ("01", 1), ("-", 1), ("+1", 0), (".5", 0), ("1.", 2),
        ("1e", 2), ("1e+", 3), ("0x1", 1), ("NaN", 0), ("tru", 0), ("nullx", 4), ("'a'", 0), ("\"a", 2),
        ("\"\\x\"", 1), ("\"\\u12g4\"", 5), ("\"\\u12", 5), ("\"a\nb\"", 2), ("1e400", 0), ("[-1e400]", 1),
        ("\u{feff}\u{feff}1", 3), ("{\"a\":1}}", 7), ("[1]\u{a0}", 3),
    ])
    func `what is wrong is told with its offset`(text: String, offset: Int) {
        #expect(Self.offset(reading: Data(text.utf8)) == offset)
    }

    @Test func `case 433: a word in braces is no object`() {
        #expect(Self.offset(reading: Data("{invalid}".utf8)) == 1)
    }

    @Test func `case 449: a byte order mark is skipped`() throws {
        #expect(try JSONValue(parsing: Data([0xEF, 0xBB, 0xBF, 0x7B, 0x7D])) == [:])
    }

    @Test func `case 451: of a key that is there twice the last value counts`() throws {
        #expect(try JSONValue(parsing: #"{"a":1,"b":0,"a":2}"#) == ["a": 2, "b": 0])
    }

    @Test func `case 452: nesting deeper than the limit is an error, not an overflow`() throws {
        let limit = JSONValue.maximumDepth
        let deepest = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
        #expect(try JSONValue(parsing: deepest).array?.count == 1)
        #expect(Self.offset(reading: Data(repeating: UInt8(ascii: "["), count: 100_000)) == limit)
        let objects = String(repeating: "{\"a\":", count: 100_000)
        #expect(Self.offset(reading: Data(objects.utf8)) == 5 * limit)
    }

    @Test func `many containers side by side are no nesting`() throws {
        let text = "[" + String(repeating: "[],{},", count: 10_000) + "[[]]]"
        #expect(try JSONValue(parsing: text).array?.count == 20_001)
    }

    @Test func `escapes stand for their characters`() throws {
        let text = #""\"\\\/\b\f\n\r\t\u00e9\u4f60\uD83D\uDE03\u0000x""#
        #expect(try JSONValue(parsing: text) == "\"\\/\u{8}\u{c}\n\r\té你😃\0x")
        #expect(try JSONValue(parsing: #"{"\u0061b":"c\td"}"#) == ["ab": "c\td"])
    }

    @Test(arguments: [#""\uD800""#, #""\uDC00""#, #""\uD800\uD800""#, #""\uD800x""#, #""\uD800\n""#])
    func `half a surrogate pair is an error`(text: String) {
        #expect(Self.offset(reading: Data(text.utf8)) == 1)
    }

    @Test(
        arguments: [
            ([0xC3, 0x28], 0), ([0x61, 0xFF], 1), ([0xC0, 0x80], 0), ([0xED, 0xA0, 0x80], 0),
            ([0xF4, 0x90, 0x80, 0x80], 0), ([0xE4, 0xBD], 0), ([0x5C, 0x6E, 0x61, 0xC3, 0x28], 3),
        ] as [([UInt8], Int)]
    )
    func `report 9: bytes in a string that are not UTF-8 are an error at their offset`(
        bytes: [UInt8],
        offset: Int
    ) {
        let text = Data("{\"a\":\"".utf8) + Data(bytes) + Data("\"}".utf8)
        #expect(Self.offset(reading: text) == 6 + offset)
    }

    @Test func `a slice of data is read from its own start`() throws {
        let data = Data("xx[1]yy".utf8)
        #expect(try JSONValue(parsing: data[2..<5]) == [1])
    }

    private static func offset(reading data: Data) -> Int? {
        do {
            _ = try JSONValue(parsing: data)
        } catch .malformedJSON(_, let offset) {
            return offset
        } catch {}
        return nil
    }
}
