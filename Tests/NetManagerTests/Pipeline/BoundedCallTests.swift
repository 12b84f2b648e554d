import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// The whole time holds whatever code of others stands on the way of a call.
@Suite struct BoundedCallTests {
    private func expectTimeout(_ error: RequestError?) {
        guard case .timedOut(.total)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    private let short: RequestOptions = {
        var options = RequestOptions()
        options.timeout = .milliseconds(100)
        return options
    }()

    @Test func `an interceptor that never ends does not hold up its call`() async throws {
        let deaf = DeafInterceptor()
        defer { deaf.letGo() }
        let manager = HTTPSessionManager(StubTransport(json: "1")) { $0.interceptors = [deaf] }
        let start = ContinuousClock.now
        expectTimeout(await requestError { _ = try await manager.get("x", options: short) })
        #expect(ContinuousClock.now - start >= .milliseconds(100))
        let result: Outcome<JSONValue> = await outcome {
            manager.get("x", options: short, success: $0, failure: $1)
        }
        expectTimeout(result.error)
    }

    @Test func `a transport that never ends does not hold up its call`() async throws {
        let held = Shared<[CheckedContinuation<Void, Never>]>([])
        let stub = StubTransport { request in
            await withCheckedContinuation { continuation in held.withLock { $0.append(continuation) } }
            return .json("1", to: request)
        }
        let manager = HTTPSessionManager(stub)
        expectTimeout(await requestError { _ = try await manager.get("x", options: short) })
        for continuation in held.value { continuation.resume() }
    }

    @Test func `a redirect hook and a retry decision that never end do not hold up their calls`() async throws
    {
        let held = Shared<[CheckedContinuation<Void, Never>]>([])
        @Sendable func hang() async {
            await withCheckedContinuation { continuation in held.withLock { $0.append(continuation) } }
        }
        let stub = StubTransport { request in
            request.url.path.hasSuffix("redirect")
                ? .empty(302, headers: ["Location": "/"], to: request) : .empty(503, to: request)
        }
        var retry = RetryPolicy()
        retry.decision = { _ in
            await hang()
            return .giveUp
        }
        let manager = HTTPSessionManager(stub) {
            $0.redirectPolicy = .modify { _ in
                await hang()
                return nil
            }
            $0.retryPolicy = retry
        }
        for path in ["redirect", "retry"] {
            let before = held.value.count
            try await withGrowingLimit(from: .milliseconds(100)) { limit in
                var options = RequestOptions()
                options.timeout = limit
                expectTimeout(
                    await requestError { [options] in _ = try await manager.get(path, options: options) }
                )
                return held.value.count > before
            }
        }
        for continuation in held.value { continuation.resume() }
    }

    @Test func `a cancelled call does not wait for an interceptor that does not listen`() async throws {
        let deaf = DeafInterceptor()
        defer { deaf.letGo() }
        let manager = HTTPSessionManager(StubTransport(json: "1")) { $0.interceptors = [deaf] }
        let call = Task { try await manager.get("x") }
        await deaf.reached.wait()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func `a response that comes too late ends its transfer`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("late").holdingBody(until: gate) }
        let deaf = DeafInterceptor()
        let answers = Shared(0)
        struct After: Interceptor {
            let deaf: DeafInterceptor
            let answers: Shared<Int>
            func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
                let response = try await next(request)
                answers.withLock { $0 += 1 }
                _ = try await deaf.intercept(request) { _ in response }
                return response
            }
        }
        let manager = HTTPSessionManager(CurlTransport()) {
            $0.interceptors = [After(deaf: deaf, answers: answers)]
        }
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        try await withGrowingLimit(from: .milliseconds(300)) { limit in
            var options = RequestOptions()
            options.timeout = limit
            expectTimeout(
                await requestError { [options] in try await manager.stream(request, options: options) { _ in }
                }
            )
            return answers.value > 0
        }
        // Those of attempts that got no answer are closed by now, or soon.
        #expect(await server.until { $0.openConnections == 1 })
        deaf.letGo()
        #expect(await server.until { $0.openConnections == 0 })
        gate.open()
    }

    @Test func `monitors are told of such an end once`() async throws {
        final class Ends: EventMonitor {
            let count = Shared(0)
            let ended = Latch()
            func callEnded(_ end: CallEnd, of call: MonitoredCall) {
                count.withLock { $0 += 1 }
                ended.open()
            }
        }
        let deaf = DeafInterceptor()
        let ends = Ends()
        let manager = HTTPSessionManager(StubTransport(json: "1")) {
            $0.interceptors = [deaf]
            $0.eventMonitors = [ends]
        }
        expectTimeout(await requestError { _ = try await manager.get("x", options: short) })
        deaf.letGo()
        await ends.ended.wait()
        _ = await requestError { _ = try await manager.get("y", options: short) }
        deaf.letGo()
        #expect(ends.count.value <= 2)
    }
}
