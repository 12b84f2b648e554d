import NetManager
import Testing

/// What the verbs send, and what they make of the answer.
@Suite struct VerbTests {
    @Test(arguments: [HTTPMethod.get, .delete, .head])
    func `case 499: GET, HEAD and DELETE put parameters into the query`(method: HTTPMethod) async throws {
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(stub)
        switch method {
        case .get: _ = try await manager.get("x", parameters: ["key": "value"])
        case .delete: _ = try await manager.delete("x", parameters: ["key": "value"])
        default: _ = try await manager.head("x", parameters: ["key": "value"])
        }
        let request = try #require(stub.requests.first)
        #expect(request.method == method)
        #expect(request.url.absoluteString == "https://api.example.com/v1/x?key=value")
        #expect(request.body == nil || request.bodyText == "")
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch])
    func `cases 496, 500: POST, PUT and PATCH put parameters into the body`(method: HTTPMethod) async throws {
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(stub)
        switch method {
        case .post: _ = try await manager.post("x", parameters: ["key": "value"])
        case .put: _ = try await manager.put("x", parameters: ["key": "value"])
        default: _ = try await manager.patch("x", parameters: ["key": "value"])
        }
        let request = try #require(stub.requests.first)
        #expect(request.method == method)
        #expect(request.url.absoluteString == "https://api.example.com/v1/x")
        #expect(request.bodyText == "key=value")
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test func `cases 485, 496: a call's header field replaces the manager's, the others stay`() async throws
    {
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(stub) {
            $0.headers = ["X-Foo": "foo value", "X-Bar": "bar value"]
        }
        _ = try await manager.get("x", headers: ["x-foo": "request value"])
        let headers = try #require(stub.requests.first).headers
        #expect(headers[values: "X-Foo"] == ["request value"])
        #expect(headers[values: "X-Bar"] == ["bar value"])
    }

    @Test func `a call's header field replaces the serializer's`() async throws {
        let stub = StubTransport(json: "{}")
        _ = try await HTTPSessionManager(stub).post(
            "x",
            parameters: ["a": 1],
            headers: ["Content-Type": "text/x"]
        )
        #expect(stub.requests.first?.headers[values: "Content-Type"] == ["text/x"])
    }

    @Test func `report 19: an empty object appends no question mark`() async throws {
        let stub = StubTransport(json: "{}")
        _ = try await HTTPSessionManager(stub).get("http://h/p", parameters: [:])
        #expect(stub.requests.first?.url.absoluteString == "http://h/p")
    }

    @Test func `report 21: a POST without parameters has an empty body and says its type`() async throws {
        let stub = StubTransport(json: "{}")
        _ = try await HTTPSessionManager(stub).post("x")
        let request = try #require(stub.requests.first)
        #expect(request.bodyText == "")
        #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test(arguments: [200, 204])
    func `cases 491, 493: an empty answer of any type is null`(status: Int) async throws {
        let stub = StubTransport(status: status, headers: ["Content-Type": "text/html"])
        #expect(try await HTTPSessionManager(stub).get("x") == .null)
    }

    @Test func `report 1: a refused content type names the type and keeps the body`() async throws {
        let stub = StubTransport(headers: ["Content-Type": "text/html"], body: Data("<b>x</b>".utf8))
        let ended = await outcome { HTTPSessionManager(stub).get("x", success: $0, failure: $1) }
        let error = try #require(ended.error)
        guard case .unacceptableContentType("text/html") = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(error.response?.body == Data("<b>x</b>".utf8))
        #expect("\(error)".contains("text/html"))
    }

    @Test func `report 5: a refused status stands above what is wrong with the body`() async throws {
        let stub = StubTransport(json: "not json", status: 404)
        let error = try #require(
            await requestError { _ = try await HTTPSessionManager(stub).get("x?token=hidden") }
        )
        guard case .unacceptableStatus(404) = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(error.response?.head.status == 404)
        #expect(error.response?.body == Data("not json".utf8))
        #expect(error.attempt == 1)
        #expect(!"\(error)".contains("hidden"))
        #expect(!"\(error)".contains("not json"))
    }

    @Test func `case 556: a 401 without credentials is one failure`() async throws {
        let stub = StubTransport(status: 401, headers: ["WWW-Authenticate": "Basic"])
        let ended = await outcome { HTTPSessionManager(stub).get("x", success: $0, failure: $1) }
        guard case .unacceptableStatus(401)? = ended.error?.kind else {
            Issue.record("\(ended)")
            return
        }
    }

    @Test func `a body that cannot be decoded is told with the body`() async throws {
        let stub = StubTransport(json: #"{"name":1}"#)
        let error = try #require(
            await requestError {
                _ = try await HTTPSessionManager(stub).get("x", as: .decoding(ContractTests.User.self))
            }
        )
        guard case .undecodable = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(error.response?.body.count == 10)
    }

    @Test func `HEAD answers with the head, judges the status and not the type`() async throws {
        let stub = StubTransport(headers: ["Content-Type": "image/png", "ETag": "1"])
        #expect(try await HTTPSessionManager(stub).head("x").headers["ETag"] == "1")
        let missing = StubTransport(status: 404)
        let error = await requestError { _ = try await HTTPSessionManager(missing).head("x") }
        guard case .unacceptableStatus(404)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `case 484: a serializer's error fails the call, later, with a task, and nothing is sent`()
        async throws
    {
        struct Custom: Error {}
        struct Failing: RequestSerializer {
            func serialize(_ parameters: JSONValue?, into request: inout HTTPRequest)
                throws(SerializationError)
            {
                throw .custom(Custom())
            }
        }
        let stub = StubTransport(json: "{}")
        let manager = HTTPSessionManager(stub) { $0.requestSerializer = Failing() }
        let ended = await outcome {
            manager.get("test", parameters: ["key": "value"], success: $0, failure: $1)
        }
        guard case .custom(is Custom)? = ended.error?.kind else {
            Issue.record("\(ended)")
            return
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func `report 59: a GET with a body is sent with it`() async throws {
        let stub = StubTransport()
        let url = try #require(URL(string: "https://h/x"))
        _ = try await HTTPSessionManager(stub).send(HTTPRequest(url: url, body: .data(Data("abc".utf8))))
        #expect(stub.requests.first?.method == .get)
        #expect(stub.requests.first?.bodyText == "abc")
    }

    @Test func `report 57: repeated response fields are all there`() async throws {
        var headers = HTTPHeaders()
        headers.add("1", for: "X-A")
        headers.add("2", for: "X-A")
        let stub = StubTransport(headers: headers)
        #expect(try await HTTPSessionManager(stub).head("x").headers[values: "x-a"] == ["1", "2"])
    }

    @Test func `send judges nothing, adds the manager's fields and resolves relative URLs`() async throws {
        let stub = StubTransport(status: 500, body: Data("oops".utf8))
        let manager = HTTPSessionManager(stub) { $0.headers = ["X-A": "manager", "X-B": "manager"] }
        let url = try #require(URL(string: "users?a=1"))
        let response = try await manager.send(HTTPRequest(.put, url: url, headers: ["x-a": "own"]))
        #expect(response.head.status == 500)
        #expect(response.body == Data("oops".utf8))
        #expect(response.requestMethod == .put)
        let request = try #require(stub.requests.first)
        #expect(request.url.absoluteString == "https://api.example.com/v1/users?a=1")
        #expect(request.headers[values: "X-A"] == ["own"])
        #expect(request.headers["X-B"] == "manager")
    }

    @Test func `a content over the limit fails, of the manager and of the call`() async throws {
        let manager = HTTPSessionManager(StubTransport(json: #""0123456789""#)) { $0.responseBodyLimit = 12 }
        #expect(try await manager.get("x") == "0123456789")
        var options = RequestOptions()
        options.responseBodyLimit = 11
        let error = await requestError { [options] in _ = try await manager.get("x", options: options) }
        guard case .bodyTooLarge? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.response?.head.status == 200)
    }
}
