import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite("JSON bodies of requests") struct JSONRequestSerializerTests {
    /// The request with the parameters in it.
    private func serialized(
        _ parameters: JSONValue?,
        by method: HTTPMethod = .post,
        headers: HTTPHeaders = [:],
        with serializer: any RequestSerializer = JSONRequestSerializer()
    ) throws -> HTTPRequest {
        var request = HTTPRequest(method, url: try #require(URL(string: "http://h/p")), headers: headers)
        try serializer.serialize(parameters, into: &request)
        return request
    }

    private func body(_ request: HTTPRequest) -> String? {
        guard case .data(let data)? = request.body?.storage else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    private func isRefused(
        _ parameters: JSONValue,
        by serializer: any RequestSerializer = JSONRequestSerializer()
    ) throws -> Bool {
        do {
            _ = try serialized(parameters, with: serializer)
            return false
        } catch SerializationError.invalidParameters {
            return true
        }
    }

    @Test func `case 350: an object is the body`() throws {
        let request = try serialized(["key": "value"])
        #expect(body(request) == #"{"key":"value"}"#)
        #expect(request.headers["Content-Type"] == "application/json")
    }

    @Test func `case 356: without parameters there is neither a body nor a type`() throws {
        let request = try serialized(nil)
        #expect(request.body == nil)
        #expect(request.headers.isEmpty)
    }

    @Test(arguments: ["x", 1, 1.5, true, nil] as [JSONValue])
    func `case 358: a scalar at the top level is refused`(scalar: JSONValue) throws {
        #expect(try isRefused(scalar))
        #expect(try isRefused(scalar, by: PropertyListRequestSerializer()))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `case 359: a number that is not finite is refused`(number: Double) throws {
        #expect(try isRefused(["a": .double(number)]))
    }

    @Test func `case 361: empty objects and arrays are bodies`() throws {
        #expect(body(try serialized([:])) == "{}")
        #expect(body(try serialized([])) == "[]")
        #expect(try serialized([]).headers["Content-Type"] == "application/json")
    }

    @Test func `case 362: text stands in UTF-8`() throws {
        #expect(body(try serialized(["k": "你好😃"])) == #"{"k":"你好😃"}"#)
    }

    @Test func `case 364: null is sent`() throws {
        #expect(body(try serialized(["a": nil])) == #"{"a":null}"#)
    }

    @Test func `case 274: nested objects and arrays are sent, and nothing goes into the query`() throws {
        let parameters: JSONValue = [
            "foo": "bar", "baz": ["a", 1, true], "qux": ["a": 1, "b": [2, 2], "c": [3, 3, 3]],
        ]
        let request = try serialized(parameters)
        #expect(try JSONValue(parsing: #require(body(request))) == parameters)
        #expect(request.headers["Content-Type"] == "application/json")
        #expect(request.url.absoluteString == "http://h/p")
    }

    @Test func `case 275: an array is sent`() throws {
        #expect(body(try serialized(["foo", "bar", "baz"])) == #"["foo","bar","baz"]"#)
    }

    @Test func `case 284: keys are sorted`() throws {
        #expect(body(try serialized(["z": "z", "a": "a", "p": "p"])) == #"{"a":"a","p":"p","z":"z"}"#)
    }

    @Test func `case 280: a type that the request has is kept`() throws {
        let request = try serialized(["a": 1], headers: ["content-type": "application/vnd.api+json"])
        #expect(request.headers[values: "Content-Type"] == ["application/vnd.api+json"])
    }

    @Test(arguments: [HTTPMethod.get, .head, .delete])
    func `methods without a body carry the parameters in the URL`(method: HTTPMethod) throws {
        for serializer in [JSONRequestSerializer(), PropertyListRequestSerializer()]
            as [any RequestSerializer]
        {
            let request = try serialized(["a": [1]], by: method, with: serializer)
            #expect(request.url.absoluteString == "http://h/p?a%5B%5D=1")
            #expect(request.body == nil)
            #expect(request.headers.isEmpty)
        }
    }

    @Test func `cases 281 and 283: the pretty form is used when asked for`() throws {
        let serializer = JSONRequestSerializer(writingOptions: [.sortedKeys, .prettyPrinted])
        let text = body(try serialized(["property": "property"], with: serializer))
        #expect(text == "{\n  \"property\" : \"property\"\n}")
    }

    @Test func `a property list is written as XML, or binary when asked for`() throws {
        let parameters: JSONValue = ["a": ["x<", 1, true, 1.5], "b": [:]]
        let xml = try serialized(parameters, with: PropertyListRequestSerializer())
        #expect(xml.headers["Content-Type"] == "application/x-plist")
        let text = try #require(body(xml))
        #expect(text.hasPrefix("<?xml"))
        #expect(try PropertyListDecoder().decode(JSONValue.self, from: Data(text.utf8)) == parameters)
        let binary = try serialized(parameters, with: PropertyListRequestSerializer(format: .binary))
        guard case .data(let data)? = binary.body?.storage else { return #expect(Bool(false)) }
        #expect(data.starts(with: Array("bplist00".utf8)))
        #expect(try PropertyListDecoder().decode(JSONValue.self, from: data) == parameters)
    }

    @Test func `what has no form as a property list is refused`() throws {
        #expect(try isRefused(["a": nil], by: PropertyListRequestSerializer()))
        #expect(try isRefused(["a": "\u{1}"], by: PropertyListRequestSerializer()))
        #expect(try isRefused(["\u{0}": 1], by: PropertyListRequestSerializer()))
        var deep: JSONValue = [:]
        for _ in 0..<JSONValue.maximumDepth { deep = [deep] }
        #expect(try isRefused(deep, by: PropertyListRequestSerializer()))
        #expect(try isRefused(deep))
    }
}
