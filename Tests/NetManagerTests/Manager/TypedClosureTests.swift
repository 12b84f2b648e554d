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

    @Test(arguments: [
        (HTTPMethod.get, "GET a=1  b"), (.head, "HEAD a=1  b"), (.delete, "DELETE a=1  b"),
        (.post, "POST  a=1 b"), (.put, "PUT  a=1 b"), (.patch, "PATCH  a=1 b"),
    ])
    func `each verb sends what the untyped one does, and gives what the serializer makes of the answer`(
        method: HTTPMethod,
        sent: String
    ) async throws {
        let manager = HTTPSessionManager(Self.echo)
        let fields: HTTPHeaders = ["X-Field": "b"]
        let ended: Outcome<String> = await outcome { success, failure in
            switch method {
            case .get:
                manager.get(
                    "x",
                    parameters: ["a": 1],
                    headers: fields,
                    as: Reading(),
                    success: success,
                    failure: failure
                )
            case .head:
                manager.head(
                    "x",
                    parameters: ["a": 1],
                    headers: fields,
                    as: Reading(),
                    success: success,
                    failure: failure
                )
            case .delete:
                manager.delete(
                    "x",
                    parameters: ["a": 1],
                    headers: fields,
                    as: Reading(),
                    success: success,
                    failure: failure
                )
            case .post:
                manager.post(
                    "x",
                    parameters: ["a": 1],
                    headers: fields,
                    as: Reading(),
                    success: success,
                    failure: failure
                )
            case .put:
                manager.put(
                    "x",
                    parameters: ["a": 1],
                    headers: fields,
                    as: Reading(),
                    success: success,
                    failure: failure
                )
            default:
                manager.patch(
                    "x",
                    parameters: ["a": 1],
                    headers: fields,
                    as: Reading(),
                    success: success,
                    failure: failure
                )
            }
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
