import Foundation
import FoundationNetworking
import NetManagerFoundation
import Testing

/// Responses that are not accepted, as `NSError`.
@Suite struct ResponseErrorTests {
    private let responseDomain = "com.alamofire.error.serialization.response"

    /// Through a manager, as users meet them.
    private func error(
        _ body: String,
        _ type: String?,
        status: Int = 200,
        types: Set<String>? = nil
    ) async -> RequestError? {
        var headers: HTTPHeaders = [:]
        headers["Content-Type"] = type
        let stub = StubTransport(status: status, headers: headers, body: Data(body.utf8))
        let manager = HTTPSessionManager(.init(), transport: stub)
        if let types {
            manager.configuration.responseSerializer.validation.acceptableContentTypes = types
        }
        return await failureOfGet("http://h/x", from: manager)
    }

    @Test func `case 415: a status error has domain, code, URL, response and body`() async throws {
        let error = try #require(await error(#"{"why":"B"}"#, "application/json", status: 404))
        let bridged = error as NSError
        #expect(bridged.domain == responseDomain)
        #expect(bridged.domain == AFURLResponseSerializationErrorDomain)
        #expect(bridged.code == NSURLErrorBadServerResponse)
        #expect(bridged.localizedDescription.contains("404"))
        let full = NSError(requestError: error)
        #expect(full.number == bridged.number)
        #expect(full.localizedDescription == bridged.localizedDescription)
        #expect(full.localizedDescription == error.localizedDescription)
        #expect(full.userInfo[NSURLErrorFailingURLErrorKey] as? URL == URL(string: "http://h/x"))
        #expect(full.userInfo["NSErrorFailingURLStringKey"] as? String == "http://h/x")
        let response =
            full.userInfo["com.alamofire.serialization.response.error.response"] as? HTTPURLResponse
        #expect(response?.statusCode == 404)
        #expect(response?.value(forHTTPHeaderField: "content-type") == "application/json")
        let body = full.userInfo["com.alamofire.serialization.response.error.data"] as? Data
        #expect(body == Data(#"{"why":"B"}"#.utf8))
        #expect(full.underlying == nil)
    }

    @Test func `case 416, report 1: a content type error names the type and holds the body`() async throws {
        let error = try #require(await error("<b>x</b>", "text/html"))
        let full = NSError(requestError: error)
        #expect(full.number == "\(responseDomain) -1016")
        #expect((error as NSError).number == full.number)
        #expect(full.localizedDescription.contains("text/html"))
        #expect(
            full.userInfo[AFNetworkingOperationFailingURLResponseDataErrorKey] as? Data
                == Data("<b>x</b>".utf8)
        )
    }

    @Test func `cases 410, 422, 427, 431: types that are not in the set are −1016`() async throws {
        let types = ["application/vnd.api+json", "nonstandard/json", "text/xml", nil]
        for type in types {
            let error = try #require(await error("{}", type))
            #expect((error as NSError).number == "\(responseDomain) -1016", "\(type ?? "none")")
        }
        #expect(await error("{}", "application/vnd.api+json", types: ["application/vnd.api+json"]) == nil)
    }

    @Test func `cases 407, 409, 418, 421, 428, 430: what is accepted is no error`() async throws {
        #expect(await error("", nil, status: 205) == nil)
        #expect(await error("", "text/html") == nil)
        for type in ["Application/JSON", "application/json; charset=utf8", "text/javascript", "text/json"] {
            #expect(await error("{}", type) == nil, "\(type)")
        }
        for status in 200...299 { #expect(await error("1", "text/json", status: status) == nil) }
    }

    @Test func `cases 419, 443: the content type lies under a bad status unless there is no body`()
        async throws
    {
        let empty = NSError(requestError: try #require(await error("", "text/html", status: 404)))
        #expect(empty.number == "\(responseDomain) -1011")
        #expect(empty.underlying == nil)
        let page = NSError(requestError: try #require(await error("<h1>", "text/html", status: 500)))
        #expect(page.number == "\(responseDomain) -1011")
        #expect(page.underlying?.number == "\(responseDomain) -1016")
        #expect(page.underlying?.underlying == nil)
    }

    @Test func `case 424: a status outside the set is −1011, 200 too`() async throws {
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(.init(), transport: stub)
        manager.configuration.responseSerializer.validation.acceptableStatusCodes = [404]
        let error = try #require(await failureOfGet("http://h/x", from: manager))
        #expect((error as NSError).number == "\(responseDomain) -1011")
        manager.configuration.responseSerializer.validation.acceptableStatusCodes = nil
        #expect(await failureOfGet("http://h/x", from: manager) == nil)
    }

    @Test func `cases 433, 440: broken JSON is 3840 of Cocoa with the place`() async throws {
        for (body, offset) in [("{invalid}", 1), ("  ", 2), ("\r\n", 2)] {
            let error = try #require(await error(body, "text/json"))
            let full = NSError(requestError: error)
            #expect(full.number == "NSCocoaErrorDomain 3840", "\(body)")
            #expect((error as NSError).number == full.number)
            #expect(full.userInfo["NSJSONSerializationErrorIndex"] as? Int == offset, "\(body)")
        }
    }

    @Test func `case 442, report 5: the status stands above the parse error`() async throws {
        let error = try #require(await error("oops", "text/json", status: 404))
        let full = NSError(requestError: error)
        #expect(full.number == "\(responseDomain) -1011")
        #expect(full.underlying?.number == "NSCocoaErrorDomain 3840")
        #expect(
            full.userInfo[AFNetworkingOperationFailingURLResponseDataErrorKey] as? Data == Data("oops".utf8)
        )
    }

    @Test func `case 455: an HTML page under the wrapper's list of types is 3840 with its body`() async throws
    {
        let types = AKNetPackegeAFN.acceptableContentTypes
        #expect(await error(#"{"a":1}"#, "text/html", types: types) == nil)
        let full = NSError(requestError: try #require(await error("<html>", "text/html", types: types)))
        #expect(full.number == "NSCocoaErrorDomain 3840")
        #expect(
            full.userInfo[AFNetworkingOperationFailingURLResponseDataErrorKey] as? Data == Data("<html>".utf8)
        )
    }

    @Test func `report 9: bytes that are no text are an error of decoding`() throws {
        let response = HTTPResponse(Data([0xC3, 0x28]), type: "text/plain")
        let text = serializationError { try StringResponseSerializer().serialize(response) }
        #expect((try #require(text) as NSError).number == "NSCocoaErrorDomain 261")
        let unknown = serializationError {
            try StringResponseSerializer(charset: "x-none").serialize(response)
        }
        #expect((try #require(unknown) as NSError).number == "NSCocoaErrorDomain 264")
    }

    @Test func `a value of the wrong type is an error of Cocoa's coders`() throws {
        struct User: Decodable, Sendable { var name: String }
        let serializer = DecodableResponseSerializer(User.self)
        let cases = [(#"{"name":1}"#, 4864), ("{}", 4865)]
        for (body, code) in cases {
            let error = serializationError { try serializer.serialize(HTTPResponse(body, type: "text/json")) }
            let full = NSError(requestError: try #require(error))
            #expect(full.number == "NSCocoaErrorDomain \(code)")
            #expect(full.underlying != nil)
        }
        let empty = serializationError { try serializer.serialize(HTTPResponse("", type: "text/json")) }
        #expect((try #require(empty) as NSError).number == "\(responseDomain) -1014")
    }
}
