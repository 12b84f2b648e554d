import FoundationEssentials
import HTTPMessage
import Testing

@testable import Serializers

@Suite struct MultipartRequestTests {
    static func request(_ method: HTTPMethod = .post) throws -> HTTPRequest {
        HTTPRequest(
            method,
            url: try #require(URL(string: "http://h/")),
            headers: ["content-type": "old/type"]
        )
    }

    @Test func `case 370: a form sets the content type with its boundary`() async throws {
        var form = MultipartForm()
        form.append(Data("d".utf8), name: "d")
        var request = try Self.request()
        try form.serialize(into: &request)
        #expect(request.headers[values: "Content-Type"] == ["multipart/form-data; boundary=\(form.boundary)"])
        #expect(request.body?.knownLength == form.contentLength)
    }

    @Test func `case 374: a form without parts leaves the request as it is`() async throws {
        let form = MultipartForm()
        var request = try Self.request()
        try form.serialize(into: &request)
        #expect(request.headers == ["Content-Type": "old/type"])
        #expect(request.body == nil)
        #expect(form.contentLength == 0)
        #expect(try await form.encoded().isEmpty)
    }

    @Test(arguments: [HTTPMethod.get, .head])
    func `a form is refused where there is no body`(method: HTTPMethod) throws {
        var form = MultipartForm()
        form.append(Data("d".utf8), name: "d")
        var request = try Self.request(method)
        #expect(throws: SerializationError.self) { try form.serialize(into: &request) }
    }
}
