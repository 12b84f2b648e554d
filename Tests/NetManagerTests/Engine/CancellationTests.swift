import FoundationEssentials
import HTTPMessage
import NetManager
import TestServer
import Testing

@Suite struct CancellationTests {
    @Test func `case 526: a cancelled call ends within 50 milliseconds`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("").after(gate) }
        let transport = CurlTransport()
        let url = server.url()
        // The shortest of many: other tests keep the processors busy meanwhile.
        var shortest = Duration.seconds(60)
        var round = 0
        while shortest >= .milliseconds(50), round < 100 {
            round += 1
            let call = Task { try await transport.fetch(url) }
            await gate.reached(times: round)
            let start = ContinuousClock.now
            call.cancel()
            let result = await call.result
            shortest = min(shortest, ContinuousClock.now - start)
            #expect(throws: CancellationError.self) { try result.get() }
        }
        #expect(shortest < .milliseconds(50))
        #expect(await server.until { $0.openConnections == 0 })
        gate.open()
    }

    @Test func `a call that is cancelled before it begins sends nothing`() async throws {
        let server = try TestServer { _ in .text("") }
        let transport = CurlTransport()
        let url = server.url()
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.fetch(url)
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(server.counters.connections == 0)
    }

    @Test func `cancelling at any moment ends each call once`() async throws {
        let server = try TestServer { _ in .text("x") }
        let transport = CurlTransport()
        let url = server.url()
        let ended = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let call = Task { try await transport.fetch(url) }
                    for _ in 0..<(number % 50) { await Task.yield() }
                    call.cancel()
                    switch await call.result {
                    case .success(let response): return response.head.status == 200
                    case .failure(let error): return error is CancellationError
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(ended == 500)
        // The transport is as good as before.
        #expect(try await transport.fetch(url).head.status == 200)
    }

    @Test func `case 527: a call ends when its time is over`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("").after(gate) }
        try await withGrowingLimit(from: .milliseconds(200)) { limit in
            let start = ContinuousClock.now
            let error = try await failure {
                _ = try await CurlTransport().fetch(server.url(), timeout: limit)
            }
            #expect(ContinuousClock.now - start >= limit)
            guard case .timedOut(.total) = error.kind else { throw error }
            return error.phase == .firstByte
        }
        gate.open()
    }

    @Test func `a time limit that has passed already sends nothing`() async throws {
        let server = try TestServer { _ in .text("") }
        let error = try await failure {
            _ = try await CurlTransport().fetch(server.url(), timeout: .milliseconds(-1))
        }
        guard case .timedOut(.total) = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(server.counters.connections == 0)
    }

    @Test func `the time limit holds while the body arrives`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in Fault.slowBody(gate).answer }
        try await withGrowingLimit(from: .milliseconds(200)) { limit in
            let error = try await failure {
                _ = try await CurlTransport().fetch(server.url(), timeout: limit)
            }
            guard case .timedOut(.total) = error.kind else { throw error }
            return error.phase == .idle
        }
        gate.open()
    }
}
