import Locks
import NetManager

/// How a closure call ended.
enum Outcome<Value: Sendable>: Sendable {
    case success(Value)
    case failure(RequestError)

    var value: Value? {
        if case .success(let value) = self { value } else { nil }
    }

    var error: RequestError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// Waits for a closure call.
///
/// A closure that is called twice, or both of them, traps in the checked continuation.
func outcome<Value: Sendable>(
    _ start: (
        _ success: @escaping @Sendable (RequestTask, Value) -> Void,
        _ failure: @escaping @Sendable (RequestTask, RequestError) -> Void
    ) -> Void
) async -> Outcome<Value> {
    await withCheckedContinuation { continuation in
        start(
            { _, value in continuation.resume(returning: .success(value)) },
            { _, error in continuation.resume(returning: .failure(error)) }
        )
    }
}

/// The error of an async call; nil when it succeeds or throws something else.
func requestError(_ call: () async throws -> Void) async -> RequestError? {
    do {
        try await call()
        return nil
    } catch {
        return error as? RequestError
    }
}

/// A value that closures on other threads may change.
final class Shared<Value: Sendable>: Sendable {
    private let storage: Guarded<Value>

    init(_ value: Value) {
        storage = Guarded(value)
    }

    var value: Value { storage.withLock { $0 } }

    @discardableResult
    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        storage.withLock { value in body(&value) }
    }
}

/// A gate that opens once, for tests that must wait for one another without sleeping.
final class Latch: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream<Void>.makeStream()
    }

    func open() { continuation.finish() }

    /// Returns when the gate is open, or the task cancelled.
    func wait() async {
        for await _ in stream {}
    }
}

/// Clocks that stand still but for the waits of the code under test, which pass at once.
final class VirtualTime: Sendable {
    private struct State {
        var now = ContinuousClock.now
        var sleeps: [Duration] = []
    }

    private let state = Guarded(State())
    private let start = Date(timeIntervalSince1970: 784_111_777)

    /// The waits so far.
    var sleeps: [Duration] { state.withLock(\.sleeps) }

    /// Lets time pass.
    func advance(by duration: Duration) {
        state.withLock { $0.now = $0.now.advanced(by: duration) }
    }

    /// The time for a manager; `random` is what chance always yields.
    func source(random: Double = 0) -> TimeSource {
        TimeSource(
            now: { self.state.withLock(\.now) },
            date: { self.start },
            sleep: { duration in
                try Task.checkCancellation()
                self.state.withLock { state in
                    state.sleeps.append(duration)
                    state.now = state.now.advanced(by: duration)
                }
            },
            random: { random }
        )
    }
}

extension HTTPSessionManager {
    /// A manager over a stub, with a base URL.
    convenience init(
        _ transport: any Transport,
        configure: (inout Configuration) -> Void = { _ in }
    ) {
        var configuration = Configuration(baseURL: URL(string: "https://api.example.com/v1/"))
        configure(&configuration)
        self.init(configuration, transport: transport)
    }
}

extension HTTPResponse {
    /// A response with a JSON body.
    static func json(_ text: String, status: Int = 200, to request: HTTPRequest) -> HTTPResponse {
        HTTPResponse(
            head: Head(status: status, headers: ["Content-Type": "application/json"], url: request.url),
            body: Data(text.utf8),
            requestMethod: request.method
        )
    }

    /// A response without a body.
    static func empty(_ status: Int, headers: HTTPHeaders = [:], to request: HTTPRequest) -> HTTPResponse {
        HTTPResponse(
            head: Head(status: status, headers: headers, url: request.url),
            requestMethod: request.method
        )
    }
}

extension HTTPRequest {
    /// The bytes of a body in memory, as text.
    var bodyText: String? {
        if case .data(let data)? = body?.storage { String(decoding: data, as: UTF8.self) } else { nil }
    }
}
