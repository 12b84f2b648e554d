import NetManager
import Testing

/// The wrapper with the old names.
@Suite struct AKNetPackegeAFNTests {
    private enum Ended: Sendable {
        case success(JSONValue)
        case fail(any Error)
    }

    private func call(
        _ transport: StubTransport,
        _ type: AKNetWorkType = .get,
        signature: String? = nil,
        api: String = "https://api.example.com/x",
        parameters: JSONValue? = nil,
        directories: [String] = []
    ) async -> Ended {
        let manager = HTTPSessionManager(transport) { $0.certificateDirectories = directories }
        return await withCheckedContinuation { done in
            AKNetPackegeAFN(manager: manager).netWorkType(
                type,
                signature: signature,
                api: api,
                parameters: parameters,
                success: { done.resume(returning: .success($0)) },
                fail: { done.resume(returning: .fail($0)) }
            )
        }
    }

    @Test func `GET sends a query and POST a form`() async throws {
        let stub = StubTransport(json: "1")
        _ = await call(stub, .get, parameters: ["a": 1])
        _ = await call(stub, .post, parameters: ["a": 1])
        #expect(stub.requests.map(\.method) == [.get, .post])
        #expect(stub.requests.first?.url.query == "a=1")
        #expect(stub.requests.last?.bodyText == "a=1")
        #expect(stub.requests.last?.url.query == nil)
    }

    @Test func `case 106: without a signature the manager's policy holds`() async {
        let stub = StubTransport(json: "1")
        guard case .success(1) = await call(stub) else {
            Issue.record("not a success")
            return
        }
        #expect(stub.calls.first?.context.policy == .default)
    }

    @Test(arguments: [
        "application/json", "application/xml", "text/xml", "text/json", "text/plain", "text/javascript",
        "text/html",
        "Text/HTML; charset=utf-8",
    ])
    func `the wrapper's seven content types are read as JSON`(type: String) async {
        let stub = StubTransport(headers: ["Content-Type": type], body: Data(#"{"a":1}"#.utf8))
        guard case .success(["a": 1]) = await call(stub) else {
            Issue.record("\(type) was not accepted")
            return
        }
    }

    @Test func `other content types are refused, and the body is attached`() async throws {
        let stub = StubTransport(headers: ["Content-Type": "image/png"], body: Data("x".utf8))
        guard case .fail(let error as RequestError) = await call(stub),
            case .unacceptableContentType("image/png") = error.kind
        else {
            Issue.record("accepted")
            return
        }
        #expect(error.response?.body == Data("x".utf8))
    }

    @Test func `a missing certificate fails with the searched places and sends nothing`() async throws {
        let stub = StubTransport(json: "1")
        guard
            case .fail(let error as RequestError) = await call(
                stub,
                signature: "server",
                directories: ["/certs"]
            ),
            case .certificate(.notFound("server", let searched)) = error.kind
        else {
            Issue.record("accepted")
            return
        }
        #expect(searched.contains { $0.hasPrefix("/certs") })
        #expect("\(error)".contains("/certs"))
        #expect(stub.requests.isEmpty)
    }

    @Test func `no closure is needed`() async throws {
        let gate = Latch()
        let stub = StubTransport { request in
            gate.open()
            return .empty(500, to: request)
        }
        let wrapper = AKNetPackegeAFN(manager: HTTPSessionManager(stub))
        wrapper.netWorkType(.get, signature: nil, api: "foo://x", parameters: nil, success: nil, fail: nil)
        wrapper.netWorkType(.get, signature: nil, api: "https://h/", parameters: nil, success: nil, fail: nil)
        await gate.wait()
        #expect(stub.requests.count == 1)
    }
}
