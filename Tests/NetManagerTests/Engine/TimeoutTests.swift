import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

@Suite struct TimeoutTests {
    private func send(
        _ url: String,
        _ change: (inout TransportContext) -> Void,
        configuration: CurlTransport.Configuration = .init()
    ) async throws -> RequestError {
        var context = TransportContext()
        context.delivery = .buffered(limit: 1 << 20)
        change(&context)
        let request = HTTPRequest(url: try #require(URL(string: url)))
        let transport = CurlTransport(configuration)
        return try await failure { _ = try await transport.send(request, context: context).body.collect() }
    }

    private func expect(_ error: RequestError, _ phase: RequestError.Phase) {
        guard case .timedOut(phase) = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    /// Sends while the only connection that may be is busy, and expects each to end because a time is over.
    private func behindABusyConnection(
        _ contexts: some Sequence<TransportContext>,
        time: RequestError.Phase
    ) async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("").after(gate) }
        var configuration = CurlTransport.Configuration()
        configuration.maximumConnectionsPerHost = 1
        let transport = CurlTransport(configuration)
        let url = server.url()
        let first = Task { try await transport.fetch(url) }
        await gate.reached()
        let request = HTTPRequest(url: try #require(URL(string: url)))
        for context in contexts {
            expect(try await failure { _ = try await transport.send(request, context: context) }, time)
        }
        gate.open()
        _ = try await first.value
    }

    @Test func `the first byte has a limit of its own`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("").after(gate) }
        expect(try await send(server.url()) { $0.timeouts.firstByte = .milliseconds(100) }, .firstByte)
        gate.open()
    }

    @Test func `silence in the middle of a body has a limit of its own`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in Fault.slowBody(gate).answer }
        expect(try await send(server.url()) { $0.timeouts.idle = .milliseconds(100) }, .idle)
        gate.open()
    }

    @Test func `a TLS handshake has a limit of its own`() async throws {
        let options = ServerOptions().with { $0.onConnect = { _ in .stall } }
        let server = try TestServer(options: options) { _ in .text("") }
        let url = "https://localhost:\(server.port)/"
        expect(try await send(url) { $0.timeouts.tls = .milliseconds(100) }, .tls)
    }

    @Test func `waiting for a connection has a limit of its own`() async throws {
        var context = TransportContext()
        context.timeouts.queue = .milliseconds(100)
        try await behindABusyConnection([context], time: .queue)
    }

    @Test func `a call that waits for a connection ends when its own time is over`() async throws {
        // Each deadline counts from when its turn comes.
        let deliveries = [TransportContext.Delivery.buffered(limit: 100), .streamed]
        let contexts = deliveries.lazy.map { delivery in
            var context = TransportContext(deadline: .now + .milliseconds(100))
            context.delivery = delivery
            return context
        }
        try await behindABusyConnection(contexts, time: .total)
    }

    @Test func `a stream whose time is over when the engine takes it ends at once`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("").after(gate) }
        let start = ContinuousClock.now
        let error = try await send(server.url()) {
            $0.delivery = .streamed
            $0.deadline = .now - .milliseconds(1)
        }
        expect(error, .total)
        // The limit of an idle body is a minute, and would end it too.
        #expect(start.duration(to: .now) < .seconds(30))
        gate.open()
    }

    @Test func `the head of a stream has a time, its body has none`() async throws {
        let gate = Gate()
        let server = try TestServer {
            $0.path == "/head" ? .text("").after(gate) : .text("late").holdingBody(until: gate)
        }
        let error = try await send(server.url("/head")) {
            $0.delivery = .streamed
            $0.deadline = .now + .milliseconds(100)
        }
        expect(error, .total)

        var context = TransportContext(deadline: .now + .milliseconds(300))
        context.timeouts.idle = nil
        let request = HTTPRequest(url: try #require(URL(string: server.url("/body"))))
        let response = try await CurlTransport().send(request, context: context)
        // Over the deadline by the server's own doing: a second request is answered only after it.
        _ = try await send(server.url("/head")) { $0.deadline = .now + .milliseconds(400) }
        gate.open()
        #expect(try await response.body.collect().count == 4)
    }
}
