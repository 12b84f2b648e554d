import FoundationEssentials
import Glibc
import HTTPMessage
import Locks
import TestServer
import Testing

@testable import NetManager

/// What many requests leave behind: each in a process of its own, as other tests open descriptors too.
@Suite struct ManyRequestsTests {
    @Test func `case 509: a thousand requests over eight connections each end once and leave nothing`() async
    {
        await #expect(processExitsWith: .success) {
            let server = try TestServer { request in .text(request.target) }
            // The first transport opens what the libraries keep.
            try #require(try await answers(10, from: server).count == 10)
            try #require(await server.until { $0.openConnections == 0 })
            let before = openDescriptors()
            let answers = try await answers(1000, from: server)
            try #require(answers.count == 1000)
            try #require(Set(answers).count == 1000)
            try #require(await server.until { $0.openConnections == 0 })
            try #require(await isDown(to: before + 4))
            try #require(server.counters.requests == 1010)
            // libcurl 8.14 closes connections that it could use again, and made 28 in all; 8.5 and 7.88 do not.
            let limit = CurlLibrary.version >= 0x08_06_00 ? 100 : 16
            try #require(server.counters.connections <= limit)
        }
    }

    @Test func `report 41: a thousand calls and a thousand managers leave nothing behind`() async {
        await #expect(processExitsWith: .success) {
            let options = ServerOptions().with { $0.recordsRequests = false }
            let server = try TestServer(options: options) { _ in .json("{}") }
            let wrapper = AKNetPackegeAFN.shareHttpManager()
            for _ in 0..<10 { try await call(wrapper, server.url()) }
            let descriptors = openDescriptors()
            let size = try memory("VmRSS")
            for _ in 0..<1000 { try await call(wrapper, server.url()) }
            try #require(server.counters.connections == 1)
            for _ in 0..<1000 { _ = try await HTTPSessionManager().get(server.url()) }
            try #require(server.counters.connections == 1)
            try #require(server.counters.requests == 2010)
            try #require(await isDown(to: descriptors + 4))
            // A kilobyte for each call would be a leak that shows.
            let growth = try memory("VmRSS") - size
            try #require(isSanitized || growth < 2_000_000)
        }
    }

    @Test func `report 47: bodies that are dropped leave no memory behind`() async {
        await #expect(processExitsWith: .success) {
            let options = ServerOptions().with { $0.recordsRequests = false }
            let server = try TestServer(options: options) { _ in .bytes(1 << 20) }
            let manager = HTTPSessionManager(transport: CurlTransport())
            for _ in 0..<10 { _ = try await manager.get(server.url(), as: .data) }
            let size = try memory("VmRSS")
            for _ in 0..<500 { try #require(await manager.get(server.url(), as: .data).count == 1 << 20) }
            let growth = try memory("VmRSS") - size
            try #require(isSanitized || growth < 20_000_000)
        }
    }

    @Test
    func `report 61: a hundred requests over four connections outlive a server that closes reused ones`()
        async throws
    {
        let server = try TestServer { request in
            request.indexOnConnection < 2 ? .text(request.target) : .script([.close])
        }
        var configuration = CurlTransport.Configuration()
        configuration.maximumConnectionsPerHost = 4
        let answers = try await targets(100, from: server, over: CurlTransport(configuration))
        #expect(Set(answers) == Set((0..<100).map { "/\($0)" }))
        #expect(answers.count == 100)
        #expect(server.counters.connections >= 50)
    }

    @Test func `report 61: a shutdown ends each of ten requests once`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("").after(gate) }
        let transport = CurlTransport()
        let manager = HTTPSessionManager(transport: transport)
        let kinds = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    // Two outcomes would trap in here.
                    let ended: Outcome<JSONValue> = await outcome {
                        manager.get(server.url(), success: $0, failure: $1)
                    }
                    if case .shutDown? = ended.error?.kind { return true }
                    return false
                }
            }
            await gate.reached(times: 10)
            transport.shutdown()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(kinds == [Bool](repeating: true, count: 10))
    }
}

/// What so many requests get over eight connections of a transport of their own.
private func answers(_ count: Int, from server: TestServer) async throws -> [String] {
    var configuration = CurlTransport.Configuration()
    configuration.maximumConnectionsPerHost = 8
    return try await targets(count, from: server, over: CurlTransport(configuration))
}

/// Sends so many requests at once and returns what they got.
private func targets(
    _ count: Int,
    from server: TestServer,
    over transport: CurlTransport
) async throws -> [String] {
    try await withThrowingTaskGroup(of: String.self) { group in
        for number in 0..<count {
            group.addTask {
                String(decoding: try await transport.fetch(server.url("/\(number)")).body, as: UTF8.self)
            }
        }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

/// One call through the wrapper.
private func call(_ wrapper: AKNetPackegeAFN, _ url: String) async throws {
    let error: (any Error)? = await withCheckedContinuation { done in
        wrapper.netWorkType(
            .get,
            signature: nil,
            api: url,
            parameters: nil,
            success: { _ in done.resume(returning: nil) },
            fail: { done.resume(returning: $0) }
        )
    }
    if let error { throw error }
}

private func openDescriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
}

/// Looks until no more descriptors than these are open: threads end when they are told to, and not at once.
///
/// Dispatch opens up to four of its own when it is busy; a leak would be one for each connection, request or manager.
private func isDown(to level: Int) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(20)
    while openDescriptors() > level {
        guard ContinuousClock.now < deadline else { return false }
        await Task.yield()
    }
    return true
}
