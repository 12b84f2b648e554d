import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

@Suite struct ConnectionLimitTests {
    /// How many connections two requests need that are more than two seconds apart.
    private func connections(_ configure: (inout CurlTransport.Configuration) -> Void) async throws -> Int {
        let server = try TestServer { _ in .text("") }
        let silent = try TestServer { _ in Fault.silence.answer }
        var configuration = CurlTransport.Configuration()
        configure(&configuration)
        let transport = CurlTransport(configuration)
        _ = try await transport.fetch(server.url())
        // libcurl counts whole seconds; a request that nobody answers is the clock.
        _ = await requestError {
            _ = try await CurlTransport().fetch(silent.url(), timeout: .milliseconds(2_100))
        }
        _ = try await transport.fetch(server.url())
        return server.counters.connections
    }

    @Test func `a connection that is older than its lifetime is not used again`() async throws {
        #expect(try await connections { $0.maximumConnectionLifetime = .seconds(1) } == 2)
    }

    @Test func `a connection that was idle for too long is not used again`() async throws {
        #expect(try await connections { $0.idleTimeout = .seconds(1) } == 2)
    }

    @Test func `a connection within its limits is used again`() async throws {
        let count = try await connections {
            $0.maximumConnectionLifetime = .seconds(60)
            $0.idleTimeout = .seconds(60)
        }
        #expect(count == 1)
    }

    @Test(arguments: [Duration.zero, .seconds(-5), .seconds(Int64.max)])
    func `limits out of all reason break nothing`(limit: Duration) async throws {
        let server = try TestServer { _ in .text("") }
        var configuration = CurlTransport.Configuration()
        configuration.maximumConnectionLifetime = limit
        configuration.idleTimeout = limit
        let transport = CurlTransport(configuration)
        for _ in 0..<2 { #expect(try await transport.fetch(server.url()).head.status == 200) }
    }

    /// Sends many requests at once to two servers and returns the most connections that each had, and both together.
    ///
    /// Nothing is answered before as many have arrived as may.
    private func most(
        upTo limit: Int,
        _ configure: (inout CurlTransport.Configuration) -> Void
    ) async throws -> [Int] {
        let gate = Gate()
        let open = Shared([0, 0])
        let most = Shared([0, 0, 0])
        let servers = try [0, 1].map { index in
            try TestServer { _ in
                open.withLock { $0[index] += 1 }
                let now = open.value
                most.withLock { most in
                    most[0] = max(most[0], now[0])
                    most[1] = max(most[1], now[1])
                    most[2] = max(most[2], now[0] + now[1])
                }
                gate.wait()
                open.withLock { $0[index] -= 1 }
                return .text("")
            }
        }
        var configuration = CurlTransport.Configuration()
        configure(&configuration)
        let transport = CurlTransport(configuration)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<60 {
                group.addTask { try await transport.fetch(servers[number % 2].url("/\(number)")).head.status }
            }
            await gate.reached(times: limit)
            gate.open()
            for try await status in group { #expect(status == 200) }
        }
        #expect(servers.map(\.counters.requests) == [30, 30])
        return most.value
    }

    @Test func `the limit per host is kept at each host`() async throws {
        #expect(try await most(upTo: 6) { $0.maximumConnectionsPerHost = 3 } == [3, 3, 6])
    }

    @Test func `the limit of all connections is kept over all hosts`() async throws {
        #expect(try await most(upTo: 4) { $0.maximumConnections = 4 }[2] == 4)
    }

    @Test func `both limits are kept together`() async throws {
        let most = try await most(upTo: 5) {
            $0.maximumConnections = 5
            $0.maximumConnectionsPerHost = 3
        }
        #expect(most[0] <= 3 && most[1] <= 3 && most[2] == 5)
    }
}
