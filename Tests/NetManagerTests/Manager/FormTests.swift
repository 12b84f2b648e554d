import NetManager
import Testing

/// POST with a form, in both styles.
@Suite struct FormTests {
    private func form() -> MultipartForm {
        var form = MultipartForm()
        form.append(Data("Data".utf8), name: "DataName", fileName: "DataFileName", mimeType: "text/plain")
        return form
    }

    @Test func `case 497: parameters stand before the form's parts, fields of the call are kept`()
        async throws
    {
        let stub = StubTransport(json: "1")
        let form = form()
        let manager = HTTPSessionManager(stub)
        let headers: HTTPHeaders = ["field": "value", "Content-Type": "text/plain"]
        #expect(
            try await manager.post("post", parameters: ["key": "value"], headers: headers, form: form) == 1
        )
        let request = try #require(stub.requests.first)
        #expect(request.method == .post)
        #expect(request.headers["field"] == "value")
        #expect(request.headers[values: "Content-Type"] == [form.contentType])
        let body = try #require(request.bodyText)
        let key = try #require(body.firstRange(of: "name=\"key\"\r\n\r\nvalue\r\n"))
        let file = try #require(body.firstRange(of: "name=\"DataName\"; filename=\"DataFileName\""))
        #expect(key.lowerBound < file.lowerBound)
        #expect(body.hasSuffix("--\(form.boundary)--\r\n"))
    }

    @Test func `case 490: the closure style tells the upload's progress to its end`() async throws {
        let stub = StubTransport(json: "1")
        let form = form()
        let fractions = Shared<[Double?]>([])
        let ended: Outcome<JSONValue> = await outcome { success, failure in
            HTTPSessionManager(stub).post("post", form: form, success: success, failure: failure) {
                progress in
                if progress.direction == .upload { fractions.withLock { $0.append(progress.fraction) } }
            }
        }
        #expect(ended.value == 1)
        #expect(fractions.value == [1])
        let typed: Outcome<Data> = await outcome {
            HTTPSessionManager(stub).post("post", form: form, as: .data, success: $0, failure: $1)
        }
        #expect(typed.value == Data("1".utf8))
        #expect(try await HTTPSessionManager(stub).post("post", form: form, as: .string) == "1")
    }

    @Test func `a form is sent again by a retry, one with a stream is not`() async throws {
        let stub = StubTransport(status: 503)
        var policy = RetryPolicy()
        policy.limit = 1
        var options = RequestOptions()
        options.isRepeatable = true
        options.retryPolicy = policy
        let manager = HTTPSessionManager(stub) { $0.time = VirtualTime().source() }
        var form = form()
        _ = await requestError { [form, options] in
            _ = try await manager.post("x", options: options, form: form)
        }
        #expect(stub.requests.count == 2)
        #expect(Set(stub.requests.map(\.bodyText)).count == 1)
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("abc".utf8))
        continuation.finish()
        form.appendStream(stream, length: 3, name: "s", fileName: "s", mimeType: "text/plain")
        _ = await requestError { [form, options] in
            _ = try await manager.post("x", options: options, form: form)
        }
        #expect(stub.requests.count == 3)
    }
}
