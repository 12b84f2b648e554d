import Foundation
import NetManagerFoundation
import Testing

/// Every kind of error has a domain and a code.
@Suite struct RequestErrorTests {
    private static let numbers: [(RequestError.Kind, String)] = [
        (.invalidURL, "NSURLErrorDomain -1000"),
        (.invalidRequest("a"), "com.alamofire.error.serialization.request -1000"),
        (.invalidConfiguration("a"), "NetManager.RequestError 1"),
        (.certificate(.malformed(reason: "a")), "NetManager.RequestError 1"),
        (.cancelled, "NSURLErrorDomain -999"),
        (.timedOut(.connect), "NSURLErrorDomain -1001"), (.timedOut(.idle), "NSURLErrorDomain -1001"),
        (.nameNotResolved, "NSURLErrorDomain -1003"),
        (.cannotConnect, "NSURLErrorDomain -1004"), (.proxyFailed, "NSURLErrorDomain -1004"),
        (.untrustedServer(.noCertificate), "NSURLErrorDomain -1202"),
        (.tlsFailed, "NSURLErrorDomain -1200"),
        (.clientCertificateRefused, "NSURLErrorDomain -1205"),
        (.connectionLost, "NSURLErrorDomain -1005"), (.outcomeUnknown, "NSURLErrorDomain -1005"),
        (.protocolError, "NSURLErrorDomain -1011"),
        (.tooManyRedirects, "NSURLErrorDomain -1007"), (.redirectRefused("a"), "NSURLErrorDomain -1010"),
        (.unacceptableStatus(404), "com.alamofire.error.serialization.response -1011"),
        (.unacceptableContentType(nil), "com.alamofire.error.serialization.response -1016"),
        (.undecodable(.malformedJSON(reason: "a", offset: 0)), "NSCocoaErrorDomain 3840"),
        (.undecodable(.malformedPropertyList(reason: "a")), "NSCocoaErrorDomain 3840"),
        (.bodyTooLarge, "NSURLErrorDomain -1103"),
        (.file("a"), "com.alamofire.error.serialization.request -1000"),
        (.shutDown, "NetManager.RequestError 2"),
        (.custom(NSError(domain: "Custom", code: -1)), "Custom -1"),
    ]

    @Test(arguments: numbers.indices)
    func `both ways of bridging give a kind its domain and code`(index: Int) {
        let (kind, number) = Self.numbers[index]
        let error: any Error = RequestError(kind, method: .get, url: "https://h/p")
        #expect((error as NSError).number == number)
        #expect(NSError(requestError: error).number == number)
        #expect((error as NSError).localizedDescription == "\(error)")
        #expect(NSError(requestError: error).localizedDescription == "\(error)")
    }

    @Test func `report 65: a scheme of another kind is −1002`() {
        for (url, code) in [
            ("ftp://h/x", -1002), ("foo://x", -1002), ("http://[::1", -1000), ("HTTPS://", -1000),
            ("x", -1000),
        ] {
            let error = RequestError(.invalidURL, method: .get, url: url)
            #expect((error as NSError).number == "NSURLErrorDomain \(code)", "\(url)")
        }
    }

    @Test func `a client certificate that was not given is −1206`() {
        let error = RequestError(
            .clientCertificateRefused,
            method: .get,
            url: "https://h",
            detail: "tlsv13 alert certificate required"
        )
        #expect((error as NSError).code == -1206)
    }

    @Test func `the URL in the dictionary has no user info, query and fragment`() {
        let error = RequestError(.cannotConnect, method: .get, url: "https://u:p@h/p?token=secret#f")
        let full = NSError(requestError: error)
        #expect(full.userInfo[NSURLErrorFailingURLErrorKey] as? URL == URL(string: "https://h/p"))
        #expect(!"\(full)".contains("secret"))
    }

    @Test func `other errors are bridged as they are, and a cancellation is −999`() {
        #expect(NSError(requestError: CancellationError()).number == "NSURLErrorDomain -999")
        let own = NSError(domain: "Custom", code: 7, userInfo: ["k": "v"])
        let bridged = NSError(requestError: own)
        #expect(bridged.number == "Custom 7")
        #expect(bridged.userInfo["k"] as? String == "v")
    }

    @Test func `case 484: parameters that cannot be written fail with the error of the caller's function`()
        async throws
    {
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(.init(), transport: stub)
        struct Refusing: RequestSerializer {
            func serialize(_: JSONValue?, into _: inout HTTPRequest) throws(SerializationError) {
                throw .custom(NSError(domain: "Custom", code: -1))
            }
        }
        manager.configuration.requestSerializer = Refusing()
        let error = try #require(await failureOfGet("http://h/test", from: manager))
        #expect((error as NSError).number == "Custom -1")
        #expect(NSError(requestError: error).underlying?.number == "Custom -1")
        #expect(stub.requests.isEmpty)
    }

    @Test func `parameters without a form are −1016 of the request's domain`() async throws {
        let manager = HTTPSessionManager(.init(), transport: StubTransport(json: "{}"))
        let error: RequestError? = await failure {
            (success: @escaping @Sendable (RequestTask, JSONValue) -> Void, fail) in
            manager.post("http://h/", parameters: "text", success: success, failure: fail)
        }
        let full = NSError(requestError: try #require(error))
        #expect(full.number == "com.alamofire.error.serialization.request -1016")
        #expect(full.domain == AFURLRequestSerializationErrorDomain)
        #expect(full.underlying?.number == full.number)
    }

    @Test func `cases 376 and 377: a file that is none is −1000 of the request's domain, with the reason`()
        throws
    {
        for path in ["/nope/file", "https://example.com/a.jpg"] {
            var form = MultipartForm()
            let error = try #require(serializationError { try form.appendFile(at: path, name: "f") })
            let full = NSError(requestError: error)
            #expect(full.number == "com.alamofire.error.serialization.request -1000")
            #expect((error as NSError).number == full.number)
            #expect((error as NSError).localizedFailureReason == full.localizedFailureReason)
            #expect(full.localizedFailureReason?.isEmpty == false)
            #expect(full.userInfo[NSFilePathErrorKey] as? String == path)
        }
    }

    @Test func `case 505: a URL that is none is −1000`() async throws {
        let manager = HTTPSessionManager(.init(), transport: StubTransport(json: "{}"))
        let error = try #require(await failureOfGet("http://[::1", from: manager))
        #expect((error as NSError).number == "NSURLErrorDomain -1000")
        let info = NSError(requestError: error).userInfo
        #expect(info["NSErrorFailingURLStringKey"] as? String == "http://[")
    }

    @Test func `a body that can be sent once and is needed again is −1021`() async throws {
        let pieces = AsyncStream<Data> {
            $0.yield(Data("x".utf8)); $0.finish()
        }
        let stub = StubTransport(status: 307, headers: ["Location": "/again"])
        let manager = HTTPSessionManager(.init(), transport: stub)
        let url = try #require(URL(string: "http://h/x"))
        let error = await #expect(throws: RequestError.self) {
            _ = try await manager.send(HTTPRequest(.post, url: url, body: .stream(pieces)))
        }
        #expect((try #require(error) as NSError).number == "NSURLErrorDomain -1021")
    }

    @Test func `a stream of another length than declared is −1021`() async throws {
        let pieces = AsyncStream<Data> {
            $0.yield(Data("x".utf8)); $0.finish()
        }
        let manager = HTTPSessionManager(
            .init(),
            transport: StubTransport { request in
                HTTPResponse(head: .init(status: 200, url: request.url))
            }
        )
        let url = try #require(URL(string: "http://h/x"))
        let error = await #expect(throws: RequestError.self) {
            _ = try await manager.send(HTTPRequest(.post, url: url, body: .stream(pieces, length: 9)))
        }
        #expect((try #require(error) as NSError).code == -1021)
    }
}
