import Dispatch
import Testing

@testable import NetManager

/// An engine as far as the manager knows one: a transport with a thread of its own that runs jobs.
private final class FakeEngine: ExecutorProviding {
    final class Lane: TaskExecutor {
        private static let key = DispatchSpecificKey<Bool>()
        private let queue = DispatchQueue(label: "engine")
        let jobs = Shared(0)

        init() { queue.setSpecific(key: Self.key, value: true) }

        /// Whether the caller is on the engine's thread.
        static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0 += 1 }
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    let lane = Lane()
    let sentOnEngine = Shared<[Bool]>([])
    private let answer: StubTransport.Answer

    init(_ answer: @escaping StubTransport.Answer) {
        self.answer = answer
    }

    var executor: any TaskExecutor { lane }

    func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse {
        sentOnEngine.withLock { $0.append(Lane.isCurrent) }
        if case .stream(_, let pieces)? = request.body?.storage {
            let producer = pieces()
            while try await producer.next() != nil {}
        }
        let response = try await answer(request)
        return StreamedResponse(head: response.head, body: ResponseBody(response.body))
    }
}

/// Which code runs on the engine's thread.
///
/// Each piece of users' code notes where it ran.
@Suite struct LanesTests {
    private typealias Lane = FakeEngine.Lane

    private struct Notes: Sendable {
        let places = Shared<[String: [Bool]]>([:])

        func note(_ what: String) {
            let isOnEngine = Lane.isCurrent
            places.withLock { $0[what, default: []].append(isOnEngine) }
        }

        /// Checks that the code ran, and never on the engine.
        func check(_ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
            let seen = places.value[what] ?? []
            #expect(!seen.isEmpty, "\(what) did not run", sourceLocation: sourceLocation)
            #expect(
                !seen.contains(true),
                "\(what) ran on the engine's thread",
                sourceLocation: sourceLocation
            )
        }
    }

    private struct Noting: Interceptor {
        let notes: Notes

        func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
            notes.note("interceptor")
            let response = try await next(request)
            notes.note("interceptor after")
            return response
        }
    }

    private struct NotingSerializer: RequestSerializer, ResponseSerializer {
        let notes: Notes
        var validation = ResponseValidation()

        func serialize(_ parameters: JSONValue?, into request: inout HTTPRequest) throws(SerializationError) {
            notes.note("request serializer")
        }

        func serialize(_ response: HTTPResponse) throws(SerializationError) -> Int {
            notes.note("response serializer")
            return response.body.count
        }
    }

    private struct NotingSequence: AsyncSequence, Sendable {
        let notes: Notes

        struct AsyncIterator: AsyncIteratorProtocol {
            let notes: Notes
            var left = 3

            mutating func next() async throws -> Data? {
                notes.note("body sequence")
                await Task.yield()
                notes.note("body sequence after")
                left -= 1
                return left < 0 ? nil : Data([1])
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(notes: notes) }
    }

    private actor NotingActor {
        let notes: Notes

        init(_ notes: Notes) { self.notes = notes }

        func call(_ manager: HTTPSessionManager, _ request: HTTPRequest) async throws {
            try await manager.stream(request) { response in
                notes.note("consume on an actor")
                for try await _ in response.body { notes.note("consume on an actor after") }
            }
        }
    }

    private func url(_ text: String = "https://h/x") throws -> URL { try #require(URL(string: text)) }

    @Test func `async calls run users' code of every kind off the engine`() async throws {
        let notes = Notes()
        let engine = FakeEngine { request in
            request.url.path == "/r"
                ? .empty(302, headers: ["Location": "/x"], to: request) : .json("1", to: request)
        }
        var retry = RetryPolicy()
        retry.limit = 1
        retry.decision = { _ in
            notes.note("decision")
            return .retry(after: .zero)
        }
        let manager = HTTPSessionManager(engine) { [retry] in
            $0.interceptors = [Noting(notes: notes)]
            $0.requestSerializer = NotingSerializer(notes: notes)
            $0.retryPolicy = retry
            $0.redirectPolicy = .modify { redirect in
                notes.note("hook")
                return redirect.proposedRequest
            }
        }
        _ = try await manager.get("https://h/r", as: NotingSerializer(notes: notes))
        notes.check("interceptor")
        notes.check("interceptor after")
        notes.check("request serializer")
        notes.check("response serializer")
        notes.check("hook")
        #expect(engine.sentOnEngine.value == [true, true])
        _ = try await manager.send(
            HTTPRequest(.post, url: try url(), body: .stream(NotingSequence(notes: notes)))
        )
        notes.check("body sequence")
        notes.check("body sequence after")
        try await NotingActor(notes).call(manager, HTTPRequest(url: try url()))
        notes.check("consume on an actor")
        notes.check("consume on an actor after")
        try await manager.stream(HTTPRequest(url: try url())) { _ in notes.note("consume") }
        notes.check("consume")
        manager.configuration.redirectPolicy = .stop
        _ = try await manager.send(HTTPRequest(url: try url("https://h/r")))
        notes.check("decision")
    }

    @Test func `closure calls run users' code of every kind off the engine`() async throws {
        let notes = Notes()
        let engine = FakeEngine { request in
            request.url.path == "/r"
                ? .empty(307, headers: ["Location": "/x"], to: request) : .json("[1]", to: request)
        }
        let manager = HTTPSessionManager(engine) {
            $0.interceptors = [Noting(notes: notes)]
            $0.requestSerializer = NotingSerializer(notes: notes)
            $0.redirectPolicy = .modify { redirect in
                notes.note("hook")
                return redirect.proposedRequest
            }
        }
        let ended: Outcome<Int> = await outcome { success, failure in
            manager.get(
                "https://h/r",
                as: NotingSerializer(notes: notes),
                success: { task, count in
                    notes.note("success")
                    success(task, count)
                },
                failure: failure
            )
        }
        #expect(ended.value == 3)
        let failed: Outcome<JSONValue> = await outcome { success, failure in
            manager.get("https://h/r", as: .json, success: success) { task, error in
                notes.note("failure")
                failure(task, error)
            }
        }
        #expect(failed.value != nil)
        for what in [
            "interceptor", "interceptor after", "request serializer", "response serializer", "hook",
            "success",
        ] {
            notes.check(what)
        }
        // The first attempt starts where the interceptor ended; what follows a redirect is the engine's.
        #expect(engine.sentOnEngine.value == [false, true, false, true])
    }

    private struct NotingValue: Decodable, Sendable {
        static let isOnEngine = Shared<[Bool]>([])

        init(from decoder: any Decoder) throws {
            NotingValue.isOnEngine.withLock { $0.append(Lane.isCurrent) }
        }
    }

    @Test func `a Decodable type is made off the engine`() async throws {
        let manager = HTTPSessionManager(FakeEngine { .json("{}", to: $0) })
        _ = try await manager.get("x", as: .decoding(NotingValue.self))
        let ended: Outcome<NotingValue> = await outcome {
            manager.get("x", as: .decoding(NotingValue.self), success: $0, failure: $1)
        }
        #expect(ended.value != nil)
        #expect(NotingValue.isOnEngine.value == [false, false])
    }

    @Test func `a call whose code is all the library's takes at most one job of the engine`() async throws {
        let engine = FakeEngine { .json("1", to: $0) }
        let manager = HTTPSessionManager(engine)
        #expect(try await manager.get("x") == 1)
        #expect(engine.lane.jobs.value == 0)
        let ended: Outcome<JSONValue> = await outcome { manager.get("x", success: $0, failure: $1) }
        #expect(ended.value == 1)
        #expect(engine.lane.jobs.value == 1)
        #expect(engine.sentOnEngine.value == [false, true])
    }

    @Test func `a task that asks for the engine's thread stays there, and no other gets there`() async throws
    {
        let engine = FakeEngine { .json("1", to: $0) }
        let manager = HTTPSessionManager(engine)
        let places = try await withTaskExecutorPreference(manager.executor) {
            let before = Lane.isCurrent
            _ = try await manager.get("x")
            return [before, Lane.isCurrent]
        }
        #expect(places == [true, true])
        #expect(engine.sentOnEngine.value == [true])
        _ = try await manager.get("x")
        #expect(!Lane.isCurrent)
        #expect(HTTPSessionManager(transport: StubTransport(json: "1")).executor == nil)
    }

    @Test func `attempts that may be repeated run on the engine`() async throws {
        let engine = FakeEngine { .json("1", to: $0) }
        var configuration = HTTPSessionManager.Configuration()
        configuration.retryPolicy = RetryPolicy()
        let manager = HTTPSessionManager(configuration, transport: engine)
        #expect(try await manager.get("https://h/x") == 1)
        #expect(engine.lane.jobs.value == 1)
        #expect(engine.sentOnEngine.value == [true])
    }

    @Test(arguments: [100, Lanes.decodedOnEngine + 1])
    func `a small body is decoded on the engine, a large one is not`(size: Int) async throws {
        struct Own: ResponseSerializer, LibrarySerializer {
            let notes: Notes
            var validation = ResponseValidation()

            func serialize(_ response: HTTPResponse) throws(SerializationError) -> Int {
                notes.note("decoding")
                return response.body.count
            }
        }
        let notes = Notes()
        let engine = FakeEngine { request in
            HTTPResponse(head: HTTPResponse.Head(status: 200, url: request.url), body: Data(count: size))
        }
        let ended: Outcome<Int> = await outcome {
            HTTPSessionManager(engine).get("x", as: Own(notes: notes), success: $0, failure: $1)
        }
        #expect(ended.value == size)
        #expect(notes.places.value["decoding"] == [size == 100])
    }
}
