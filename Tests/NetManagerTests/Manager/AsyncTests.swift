import NetManager
import Testing

/// What the async style promises beyond its results.
@Suite struct AsyncTests {
    private func hanging(_ begun: Latch) -> StubTransport {
        StubTransport { request in
            begun.open()
            try await Task.sleep(for: .seconds(600))
            return .json("1", to: request)
        }
    }

    @Test func `cancelling the calling task throws CancellationError`() async {
        let begun = Latch()
        let manager = HTTPSessionManager(hanging(begun))
        let call = Task { try await manager.get("x") }
        await begun.wait()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func `a task that is cancelled already sends nothing`() async {
        let stub = StubTransport(json: "1")
        let manager = HTTPSessionManager(stub)
        let gate = Latch()
        let call = Task {
            await gate.wait()
            return try await manager.get("x")
        }
        call.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(stub.requests.isEmpty)
    }

    @Test func `a transport that gives up by itself is no cancellation of the caller's`() async {
        let manager = HTTPSessionManager(StubTransport { _ in throw CancellationError() })
        let error = await requestError { _ = try await manager.get("x") }
        guard case .cancelled? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `an error that is not the library's own comes as custom`() async {
        struct Custom: Error {}
        let manager = HTTPSessionManager(StubTransport { _ in throw Custom() })
        let error = await requestError { _ = try await manager.get("x") }
        guard case .custom(is Custom)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.attempt == 1)
    }

    @Test(arguments: [Duration.milliseconds(30), .zero, .seconds(-5)])
    func `case 527, report 45: a call's timeout beats the manager's and ends the call`(timeout: Duration)
        async
    {
        let manager = HTTPSessionManager(hanging(Latch()))
        var options = RequestOptions()
        options.timeout = timeout
        let start = ContinuousClock.now
        let error = await requestError { [options] in _ = try await manager.get("x", options: options) }
        let elapsed = ContinuousClock.now - start
        guard case .timedOut(.total)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(elapsed >= timeout)
        // Far below the minute that the manager would have waited, far above what a busy machine takes.
        #expect(elapsed < .seconds(30))
    }

    @Test func `the manager's timeout is a minute unless it is set, and may be endless`() async throws {
        let stub = StubTransport(json: "1")
        let time = VirtualTime()
        let manager = HTTPSessionManager(stub) { $0.time = time.source() }
        _ = try await manager.get("x")
        manager.configuration.timeout = .seconds(Int64.max)
        _ = try await manager.get("x")
        let deadlines = stub.calls.compactMap(\.context.deadline)
        #expect(deadlines.first == time.source().now().advanced(by: .seconds(60)))
        #expect(deadlines.count == 2)
    }

    @Test func `a stream is handed over before its end and is over when the closure returns`() async throws {
        final class Source: BodySource {
            let isAbandoned = Shared(false)
            let pieces = Shared(["a", "b", "c"])

            func next() async throws -> Data? {
                pieces.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) }
            }

            func abandon() { isAbandoned.withLock { $0 = true } }
        }
        struct Streaming: Transport {
            let source: Source

            func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse {
                StreamedResponse(
                    head: HTTPResponse.Head(status: 200, url: request.url),
                    body: ResponseBody(storage: .channel(BodyReader(source: source)))
                )
            }
        }
        let source = Source()
        let manager = HTTPSessionManager(Streaming(source: source))
        let request = HTTPRequest(url: try #require(URL(string: "https://h/")))
        let first = try await manager.stream(request) { response in
            var iterator = response.body.makeAsyncIterator()
            return try await iterator.next()
        }
        #expect(first == Data("a".utf8))
        #expect(source.isAbandoned.value)
        #expect(source.pieces.value == ["b", "c"])
        // A buffered call reads the same transport to its end.
        #expect(try await manager.send(request).body == Data("bc".utf8))
    }

    @Test func `what a stream's closure throws reaches the caller as it is`() async throws {
        struct Custom: Error {}
        let manager = HTTPSessionManager(StubTransport(json: "123456"))
        let request = HTTPRequest(url: try #require(URL(string: "https://h/")))
        await #expect(throws: Custom.self) {
            try await manager.stream(request) { _ in throw Custom() }
        }
        let error = await requestError {
            try await manager.stream(request) { _ = try await $0.body.collect(upTo: 5) }
        }
        guard case .bodyTooLarge? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
