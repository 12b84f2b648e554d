import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// An interceptor that does not notice that its task was cancelled, until it is let go.
final class DeafInterceptor: Interceptor {
    let reached = Latch()
    private let held = Shared<[CheckedContinuation<Void, Never>]>([])

    func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
        await withCheckedContinuation { continuation in
            held.withLock { $0.append(continuation) }
            reached.open()
        }
        return try await next(request)
    }

    func letGo() {
        let continuations = held.withLock { held in
            defer { held = [] }
            return held
        }
        for continuation in continuations { continuation.resume() }
    }
}

private func isShutDown(_ error: (any Error)?) -> Bool {
    if case .shutDown? = (error as? RequestError)?.kind { true } else { false }
}

/// A call that has come to its server, which does not answer before the gate opens.
private struct HeldCall {
    let gate = Gate()
    let manager = HTTPSessionManager(transport: CurlTransport())
    let call: Task<JSONValue, any Error>
    private let server: TestServer

    init() async throws {
        let server = try TestServer { [gate] _ in .json("{}").after(gate) }
        self.server = server
        call = Task { [manager] in try await manager.get(server.url()) }
        await gate.reached()
    }
}

@Suite struct ManagerShutdownTests {
    @Test func `a manager that shuts down refuses new calls and lets running ones end`() async throws {
        let gate = Gate()
        let server = try TestServer { $0.path == "/" ? .json("{}").after(gate) : .json("{}") }
        let manager = HTTPSessionManager(transport: CurlTransport())
        let url = server.url()
        let running = Task { try await manager.get(url) }
        await gate.reached()
        let ending = Task { await manager.shutdown(deadline: .seconds(60)) }
        var refused: RequestError?
        // Until the other task has got so far.
        while refused == nil { refused = await requestError { _ = try await manager.get(url + "late") } }
        #expect(isShutDown(refused))
        #expect(refused?.description.contains("has been shut down") == true)
        gate.open()
        #expect(try await running.value == [:])
        #expect(await ending.value)
    }

    @Test func `report 61: calls that outlast the deadline of a shutdown end once, as shut down`()
        async throws
    {
        let gate = Gate()
        let server = try TestServer { _ in .json("{}").after(gate) }
        let manager = HTTPSessionManager(transport: CurlTransport())
        let url = server.url()
        let outcomes = await withTaskGroup(of: Outcome<JSONValue>.self) { group in
            for _ in 0..<10 {
                // Two outcomes would trap in here.
                group.addTask { await outcome { manager.get(url, success: $0, failure: $1) } }
            }
            await gate.reached(times: 10)
            #expect(await manager.shutdown(deadline: .milliseconds(50)) == false)
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 10)
        #expect(outcomes.allSatisfy { isShutDown($0.error) })
        gate.open()
    }

    @Test func `a shutdown ends a stream that is being read, and a retry that waits`() async throws {
        let gate = Gate()
        let server = try TestServer { request in
            request.path == "/stream" ? Fault.slowBody(gate).answer : .status(503).header("Retry-After", "30")
        }
        let manager = HTTPSessionManager(transport: CurlTransport())
        let failures = AsyncStream<Void>.makeStream()
        let stream = Task {
            try await manager.stream(HTTPRequest(url: URL(string: server.url("/stream"))!)) { response in
                for try await _ in response.body { failures.continuation.yield() }
            }
        }
        var options = RequestOptions()
        options.retryPolicy = RetryPolicy()
        let retry = Task { [options] in try await manager.get(server.url("/busy"), options: options) }
        // The first half of the body is there, and so is the 503.
        for await _ in failures.stream { break }
        #expect(await server.until { $0.requests == 2 })
        #expect(await manager.shutdown(deadline: .zero) == false)
        await #expect { try await stream.value } throws: { isShutDown($0) }
        await #expect { try await retry.value } throws: { isShutDown($0) }
        gate.open()
    }

    @Test(arguments: ["before", "head", "body", "retry"])
    func `a shutdown ends a call that is suspended, wherever it is`(place: String) async throws {
        let gate = Gate()
        let server = try TestServer { _ in
            switch place {
            case "head": .json("{}").after(gate)
            case "body": .json("{}").holdingBody(until: gate)
            default: .status(503).header("Retry-After", "30")
            }
        }
        let manager = HTTPSessionManager(transport: CurlTransport())
        var options = RequestOptions()
        options.startsSuspended = place == "before"
        if place == "retry" { options.retryPolicy = RetryPolicy() }
        let count = Shared(0)
        let result: Outcome<JSONValue> = await outcome { [options] success, failure in
            let task = manager.get(server.url(), options: options, success: success) {
                count.withLock { $0 += 1 }
                failure($0, $1)
            }
            Task {
                if place == "head" || place == "body" { await gate.reached() }
                if place == "retry" { #expect(await server.until { $0.requests == 1 }) }
                task.suspend()
                #expect(await manager.shutdown(deadline: .zero) == false)
                task.resume()
            }
        }
        #expect(isShutDown(result.error))
        #expect(count.value == 1)
        gate.open()
    }

    @Test func `a shutdown ends a call whose interceptor does not listen`() async throws {
        let deaf = DeafInterceptor()
        defer { deaf.letGo() }
        let manager = HTTPSessionManager(StubTransport(json: "{}")) { $0.interceptors = [deaf] }
        let call = Task { try await manager.get("x") }
        await deaf.reached.wait()
        #expect(await manager.shutdown(deadline: .zero) == false)
        await #expect { try await call.value } throws: { isShutDown($0) }
    }

    @Test func `a shutdown may be called again and again, and the earliest deadline counts`() async throws {
        let held = try await HeldCall()
        async let patient = held.manager.shutdown(deadline: .seconds(60))
        async let hasty = held.manager.shutdown(deadline: .zero)
        #expect(await hasty == false)
        // Its call is over, so it has nothing to wait for.
        _ = await patient
        await #expect { try await held.call.value } throws: { isShutDown($0) }
        #expect(await held.manager.shutdown(deadline: .now))
        held.gate.open()
    }

    @Test func `a cancelled shutdown does not wait any more`() async throws {
        let held = try await HeldCall()
        let ending = Task { await held.manager.shutdown(deadline: .seconds(600)) }
        ending.cancel()
        #expect(await ending.value == false)
        await #expect { try await held.call.value } throws: { isShutDown($0) }
        held.gate.open()
    }

    @Test func `a shutdown closes idle connections and leaves the transport to other managers`() async throws
    {
        let server = try TestServer { _ in .json("{}") }
        let transport = CurlTransport()
        let manager = HTTPSessionManager(transport: transport)
        let other = HTTPSessionManager(transport: transport)
        _ = try await manager.get(server.url())
        #expect(server.counters.openConnections == 1)
        #expect(await manager.shutdown(deadline: .seconds(60)))
        #expect(await server.until { $0.openConnections == 0 })
        #expect(try await other.get(server.url()) == [:])
        #expect(server.counters.connections == 2)
    }

    @Test func `a manager that has done nothing shuts down at once`() async {
        let manager = HTTPSessionManager(transport: CurlTransport())
        #expect(await manager.shutdown(deadline: .seconds(600)))
    }
}

@Suite struct TransportShutdownTests {
    @Test func `a transport that shuts down lets what runs end, content included`() async throws {
        let gate = Gate()
        let server = try TestServer {
            $0.path == "/" ? .text("late").holdingBody(until: gate) : .text("")
        }
        let transport = CurlTransport()
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        let response = try await transport.send(request, context: TransportContext())
        let ending = Task { await transport.shutdown(deadline: .seconds(60)) }
        var refused: RequestError?
        while refused == nil {
            refused = await requestError { _ = try await transport.fetch(server.url("/late")) }
        }
        #expect(isShutDown(refused))
        gate.open()
        #expect(try await response.body.collect().count == 4)
        #expect(await ending.value)
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func `a transport that shuts down ends what outlasts the deadline, and its connections`()
        async throws
    {
        let gate = Gate()
        let server = try TestServer { _ in .text("").after(gate) }
        let transport = CurlTransport()
        let url = server.url()
        let call = Task { try await transport.fetch(url) }
        await gate.reached()
        #expect(await transport.shutdown(deadline: .milliseconds(20)) == false)
        await #expect { try await call.value } throws: { isShutDown($0) }
        #expect(await server.until { $0.openConnections == 0 })
        #expect(await transport.shutdown(deadline: .zero))
        gate.open()
    }

    @Test func `a transport that has carried nothing starts no thread to shut down`() async throws {
        let transport = CurlTransport()
        #expect(await transport.shutdown(deadline: .seconds(600)))
        let error = await requestError { _ = try await transport.fetch("http://localhost:1/") }
        #expect(isShutDown(error))
    }

    @Test func `idle connections are closed on request, once nothing is under way`() async throws {
        let gate = Gate()
        let server = try TestServer { $0.path == "/slow" ? .text("").after(gate) : .text("") }
        let transport = CurlTransport()
        let url = server.url("/slow")
        _ = try await transport.fetch(server.url())
        let call = Task { try await transport.fetch(url) }
        await gate.reached()
        transport.closeIdleConnections()
        gate.open()
        #expect(try await call.value.head.status == 200)
        #expect(await server.until { $0.openConnections == 0 })
        #expect(try await transport.fetch(server.url()).head.status == 200)
    }
}
