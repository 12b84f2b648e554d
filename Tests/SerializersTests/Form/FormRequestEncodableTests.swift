import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite struct FormRequestEncodableTests {
    static func request(
        _ method: HTTPMethod,
        _ value: some Encodable & Sendable,
        headers: HTTPHeaders = [:],
        by serializer: FormRequestSerializer = FormRequestSerializer()
    ) throws -> HTTPRequest {
        var request = HTTPRequest(method, url: try #require(URL(string: "http://h/p")), headers: headers)
        try serializer.serialize(value, into: &request)
        return request
    }

    @Test func `case 286: POST keeps the type that is there`() throws {
        let request = try Self.request(.post, ["property": "property"], headers: ["Content-Type": "type"])
        #expect(request.headers["Content-Type"] == "type")
        #expect(request.bodyText == "property=property")
    }

    @Test func `POST of a value says its type`() throws {
        let request = try Self.request(.post, Everything())
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(request.bodyText == URLEncodedFormEncoderTests.everything)
    }

    @Test func `case 287: the serializer's own styles count in a query`() throws {
        var serializer = FormRequestSerializer()
        serializer.boolStyle = .literal
        serializer.arrayStyle = .repeatedKey
        #expect(try Self.request(.get, ["bool": true], by: serializer).url.query() == "bool=true")
        #expect(try Self.request(.get, ["a": [1, 2]], by: serializer).url.query() == "a=1&a=2")
    }

    @Test func `case 289: an empty value leaves the URL without a query`() throws {
        let request = try Self.request(.get, [String: String]())
        #expect(request.url.absoluteString == "http://h/p")
    }

    @Test func `an encoder of the caller's is used as it is`() throws {
        var encoder = URLEncodedFormEncoder()
        encoder.keyStyle = .snakeCase
        var request = HTTPRequest(url: try #require(URL(string: "http://h/p")))
        try FormRequestSerializer().serialize(["aB": 1.0 as Double], into: &request, encoder: encoder)
        #expect(request.url.query() == "a_b=1.0")
    }

    @Test func `case 253, case 293: a literal is JSON, a variable encodes itself`() throws {
        let serializer = FormRequestSerializer()
        var request = HTTPRequest(url: try #require(URL(string: "http://h/p")))
        try serializer.serialize(["a": 1.0], into: &request)
        #expect(request.url.query() == "a=1")
        let value = ["b": 1.0]
        try serializer.serialize(value, into: &request)
        #expect(request.url.query() == "a=1&b=1.0")
    }
}
