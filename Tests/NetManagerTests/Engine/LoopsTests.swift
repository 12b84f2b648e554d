import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import Synchronization
import TestServer
import Testing

@testable import NetManager

/// Transports that several threads carry.
@Suite struct LoopsTests {
    /// Whether the engine's thread runs.
    private func isRunning(_ engine: Engine) -> Bool { engine.post(ifRunning: .whenIdle {}) }

    private func servers(_ count: Int) throws -> [TestServer] {
        try (0..<count).map { number in
            try TestServer { .text("\(number)\($0.path)") }
        }
    }

    @Test func `a transport has one loop unless it is asked for more`() {
        #expect(CurlTransport().engines.count == 1)
        #expect(CurlTransport(loops: 3).engines.count == 3)
        #expect(CurlTransport(loops: 3).engines.allSatisfy { !isRunning($0) })
    }

    @Test func `hosts are spread over the loops, and each keeps its connection`() async throws {
        let servers = try servers(3)
        let transport = CurlTransport(loops: 3)
        for round in 0..<4 {
            for (number, server) in servers.enumerated() {
                let response = try await transport.fetch(server.url("/\(round)"))
                #expect(String(decoding: response.body, as: UTF8.self) == "\(number)/\(round)")
                let running = transport.engines.map(isRunning)
                #expect(round > 0 || running == [true, number > 0, number > 1])
            }
        }
        #expect(servers.map { $0.counters.connections } == [1, 1, 1])
        #expect(await transport.shutdown(deadline: .seconds(60)))
        #expect(transport.engines.allSatisfy { !isRunning($0) })
        for server in servers { #expect(await server.until { $0.openConnections == 0 }) }
        let refused = await requestError { _ = try await transport.fetch(servers[1].url()) }
        #expect(refused?.label == "shut_down")
    }

    @Test func `requests of every style go over their loops, also from the first one's thread`()
        async throws
    {
        let servers = try servers(3)
        let transport = CurlTransport(loops: 3)
        let manager = HTTPSessionManager(transport: transport)
        // With a step of a program's own, so that the library's steps run on the loops too.
        var configuration = HTTPSessionManager.Configuration()
        configuration.interceptors = [PassingInterceptor()]
        let stepping = HTTPSessionManager(configuration, transport: transport)
        @Sendable func ask(_ turn: Int) async throws {
            let number = turn % 3
            let url = servers[number].url("/\(turn)")
            let expected = Data("\(number)/\(turn)".utf8)
            switch turn % 4 {
            case 0: #expect(try await manager.get(url, as: .data) == expected)
            case 1:
                let outcome: Outcome<Data> = await outcome {
                    manager.get(url, as: .data, success: $0, failure: $1)
                }
                #expect(outcome.value == expected)
            case 2:
                #expect(try await stepping.get(url, as: .data) == expected)
            default:
                let request = HTTPRequest(url: try #require(URL(string: url)))
                let body = try await manager.stream(request) { response in
                    try await response.body.reduce(into: Data()) { $0 += $1 }
                }
                #expect(body == expected)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for turn in 0..<60 { group.addTask { try await ask(turn) } }
            try await group.waitForAll()
        }
        try await withTaskExecutorPreference(manager.executor) {
            for turn in 0..<24 { try await ask(turn) }
        }
        #expect(servers.reduce(0) { $0 + $1.counters.requests } == 84)
    }

    @Test func `a call is cancelled on its loop`() async throws {
        let held = try await HeldOnSecondLoop()
        held.call.cancel()
        await #expect(throws: CancellationError.self) { try await held.call.value }
        #expect(await held.server.until { $0.openConnections == 0 })
        held.gate.open()
    }

    @Test func `a shutdown waits for the calls of every loop, until its deadline`() async throws {
        let held = try await HeldOnSecondLoop()
        #expect(await held.transport.shutdown(deadline: .milliseconds(20)) == false)
        await #expect { try await held.call.value } throws: {
            ($0 as? RequestError)?.label == "shut_down"
        }
        held.gate.open()
    }

    @Test func `idle connections of all loops are closed on request`() async throws {
        let servers = try servers(3)
        let transport = CurlTransport(loops: 3)
        for server in servers { _ = try await transport.fetch(server.url()) }
        transport.closeIdleConnections()
        for server in servers { #expect(await server.until { $0.openConnections == 0 }) }
    }

    @Test func `a host has a loop for each policy, and one for all where its connections are counted`()
        throws
    {
        let url = try #require(URL(string: "https://Bank.test/a"))
        let same = try #require(URL(string: "https://bank.test:443/b"))
        var configuration = CurlTransport.Configuration()
        configuration.loops = 2
        let free = Loops(configuration)
        #expect(free.place(of: url, connectionID: "one") == 0)
        #expect(free.place(of: url, connectionID: "other") == 1)
        #expect(free.place(of: same, connectionID: "one") == 0)
        configuration.maximumConnectionsPerHost = 4
        let counted = Loops(configuration)
        #expect(counted.place(of: url, connectionID: "one") == 0)
        #expect(counted.place(of: same, connectionID: "other") == 0)
        let third = try #require(URL(string: "https://shop.test/"))
        #expect(counted.place(of: third, connectionID: "one") == 1)
    }

    @Test func `the library's steps of a request run on its loop`() throws {
        let transport = CurlTransport(loops: 2)
        let lanes = Lanes(transport)
        let hosts = ["https://a.test/", "https://b.test/", "https://a.test/2"]
        let engines = try hosts.map { text in
            let url = try #require(URL(string: text))
            return lanes.along(url, connectionID: "").engine as? Engine
        }
        #expect(engines[0] === transport.engines[0])
        #expect(engines[1] === transport.engines[1])
        #expect(engines[2] === transport.engines[0])
        // The one that programs are given is always the same.
        #expect(lanes.engine as? Engine === transport.engines[0])
        let single = Lanes(CurlTransport())
        #expect(single.along(try #require(URL(string: hosts[0])), connectionID: "") === single)
    }
}

/// Does nothing, as users' steps may.
private struct PassingInterceptor: Interceptor {
    func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
        try await next(request)
    }
}

/// A call on the second of two loops that has come to its server, which does not answer before the gate opens.
private struct HeldOnSecondLoop {
    let gate = Gate()
    let server: TestServer
    let transport = CurlTransport(loops: 2)
    let call: Task<HTTPResponse, any Error>

    init() async throws {
        let other = try TestServer { _ in .text("") }
        _ = try await transport.fetch(other.url())
        server = try TestServer { [gate] _ in .text("").after(gate) }
        call = Task { [transport, url = server.url()] in try await transport.fetch(url) }
        await gate.reached()
    }
}
