import FoundationEssentials
import Serializers
import Testing

@Suite("Writing JSON") struct JSONWriterTests {
    private func text(_ value: JSONValue, _ options: JSONValue.WritingOptions = .sortedKeys) throws -> String
    {
        String(decoding: try value.data(options), as: UTF8.self)
    }

    @Test func `the compact form has sorted keys and no spaces`() throws {
        let value: JSONValue = ["b": [1, true, nil], "a": ["é": "x", "Z": 1.5], "": [:], "c": []]
        #expect(try text(value) == #"{"":{},"a":{"Z":1.5,"é":"x"},"b":[1,true,null],"c":[]}"#)
    }

    @Test func `the pretty form has one value a line`() throws {
        let value: JSONValue = ["b": [1, [:]], "a": "x", "c": []]
        let pretty = """
            {
              "a" : "x",
              "b" : [
                1,
                {

                }
              ],
              "c" : [

              ]
            }
            """
        #expect(try text(value, [.sortedKeys, .prettyPrinted]) == pretty)
    }

    @Test func `only what must be escaped is`() throws {
        #expect(
            try text("\"\\/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é😃\u{2028}")
                == "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}é😃\u{2028}\""
        )
        #expect(try text("</a>", .escapingSlashes) == #""<\/a>""#)
    }

    @Test(arguments: [
        (JSONValue.double(1), "1"), (.double(-0.0), "-0.0"), (.double(0), "0"), (.double(0.1), "0.1"),
        (.double(1e22), "1e+22"), (.double(.leastNonzeroMagnitude), "5e-324"),
        (.uint(.max), "18446744073709551615"),
        (.int(.min), "-9223372036854775808"),
    ])
    func `a number has its shortest exact form`(value: JSONValue, expected: String) throws {
        #expect(try text(value) == expected)
        #expect(try JSONValue(parsing: expected).double == value.double)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `a number that is not finite is refused`(number: Double) {
        #expect(throws: SerializationError.self) { try JSONValue.array([.double(number)]).data() }
    }

    @Test func `nesting deeper than the limit is refused`() throws {
        var value: JSONValue = 1
        for _ in 0..<JSONValue.maximumDepth { value = [value] }
        #expect(try JSONValue(parsing: value.data()) == value)
        #expect(throws: SerializationError.self) { try JSONValue.array([value]).data() }
        #expect(throws: SerializationError.self) { try JSONValue.object(["a": value]).data() }
    }

    @Test func `the description is the text`() {
        #expect("\(["a": [1, nil]] as JSONValue)" == #"{"a":[1,null]}"#)
        #expect("\(JSONValue.double(.nan))".hasPrefix("(no JSON"))
    }
}
