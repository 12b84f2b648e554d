import FoundationEssentials
import HTTPMessage
import NetManager
import SecurityPolicy
import TestServer
import Testing

/// The oldest version of TLS that may be spoken.
@Suite struct MinimumTLSVersionTests {
    private func fetch(
        _ pinned: PinnedServer,
        _ minimum: ConnectionOptions.TLSVersion,
        on transport: CurlTransport
    ) async throws {
        var context = TransportContext(policy: pinned.pinned, deadline: .now + .seconds(30))
        context.connection.minimumTLSVersion = minimum
        let request = HTTPRequest(url: try #require(URL(string: pinned.server.url())))
        _ = try await transport.send(request, context: context).body.collect()
    }

    @Test func `a server that speaks only TLS 1.2 is refused when 1.3 is the least`() async throws {
        let pinned = try PinnedServer(.tls12 ... .tls12)
        let transport = CurlTransport()
        try await fetch(pinned, .tls12, on: transport)
        // Not even over the connection, or the session, that is there already.
        let error = try await failure { try await fetch(pinned, .tls13, on: transport) }
        guard case .tlsFailed = error.kind else {
            Issue.record("\(error)")
            return
        }
        try await fetch(pinned, .tls12, on: transport)
        #expect(pinned.server.counters.requests == 2)
        #expect(pinned.server.counters.handshakes == 1)
    }

    @Test func `a server that speaks both speaks TLS 1.3`() async throws {
        let pinned = try PinnedServer()
        for minimum in [ConnectionOptions.TLSVersion.tls12, .tls13] {
            try await fetch(pinned, minimum, on: CurlTransport())
        }
        #expect(pinned.server.connections.map { $0.tls?.version } == [.tls13, .tls13])
    }

    @Test(arguments: [TLSVersion.tls10, .tls11])
    func `versions that are out of date are never spoken`(version: TLSVersion) async throws {
        let pinned = try PinnedServer(version...version)
        let error = try await failure { try await fetch(pinned, .tls12, on: CurlTransport()) }
        guard case .tlsFailed = error.kind else {
            Issue.record("\(error)")
            return
        }
    }
}
