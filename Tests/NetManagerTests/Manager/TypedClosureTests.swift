import NetManager
import Testing

/// The verbs with closures and a serializer of the caller's choice.
@Suite struct TypedClosureTests {
    private struct Reading: ResponseSerializer {
        var validation = ResponseValidation()

        func serialize(_ response: HTTPResponse) throws(SerializationError) -> String {
            try validation.validate(response)
            return response.head.headers["X-Sent"] ?? "nothing"
        }
    }

    /// Answers with what was sent.
    private static let echo = StubTransport { request in
        let query = request.url.query ?? ""
        let field = request.headers["X-Field"] ?? ""
        let text = "\(request.method.rawValue) \(query) \(request.bodyText ?? "") \(field)"
        return .empty(200, headers: ["X-Sent": text], to: request)
    }

    private typealias Verb = (HTTPSessionManager) -> (
        String, JSONValue?, HTTPHeaders, RequestOptions, Reading,
        (@Sendable (RequestTask, String) -> Void)?, (@Sendable (RequestTask, RequestError) -> Void)?,
        ProgressHandler?
    ) -> RequestTask

    private static func verb(_ method: HTTPMethod) -> Verb {
        switch method {
        case .get: { $0.get(_:parameters:headers:options:as:success:failure:progress:) }
        case .head: { $0.head(_:parameters:headers:options:as:success:failure:progress:) }
        case .delete: { $0.delete(_:parameters:headers:options:as:success:failure:progress:) }
        case .post: { $0.post(_:parameters:headers:options:as:success:failure:progress:) }
        case .put: { $0.put(_:parameters:headers:options:as:success:failure:progress:) }
        default: { $0.patch(_:parameters:headers:options:as:success:failure:progress:) }
        }
    }

    @Test(arguments: [
        (HTTPMethod.get, "GET a=1  b"), (.head, "HEAD a=1  b"), (.delete, "DELETE a=1  b"),
        (.post, "POST  a=1 b"), (.put, "PUT  a=1 b"), (.patch, "PATCH  a=1 b"),
    ])
    func `each verb sends what the untyped one does, and gives what the serializer makes of the answer`(
        method: HTTPMethod,
        sent: String
    ) async throws {
        let call = Self.verb(method)(HTTPSessionManager(Self.echo))
        let ended: Outcome<String> = await outcome { success, failure in
            _ = call("x", ["a": 1], ["X-Field": "b"], .init(), Reading(), success, failure, nil)
        }
        #expect(ended.value == sent)
    }

    @Test func `an upload gives what its serializer makes of the answer`() async throws {
        let manager = HTTPSessionManager(Self.echo)
        let ended: Outcome<String> = await outcome { success, failure in
            manager.upload(
                "x",
                from: .data(Data("content".utf8)),
                method: .put,
                as: Reading(),
                success: success,
                failure: failure
            )
        }
        #expect(ended.value == "PUT  content ")
    }

    @Test func `what the serializer refuses is the failure`() async throws {
        var strict = Reading()
        strict.validation.acceptableStatusCodes = [201]
        let ended: Outcome<String> = await outcome { [strict] success, failure in
            HTTPSessionManager(Self.echo).post("x", as: strict, success: success, failure: failure)
        }
        guard case .unacceptableStatus(200)? = ended.error?.kind else {
            Issue.record("\(ended)")
            return
        }
    }
}
