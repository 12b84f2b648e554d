import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import TestPKI
import TestServer
import Testing

@testable import NetManager

/// Transfers that libcurl has not had yet.
@Suite struct WaitingTransferTests {
    @Test func `a request that never came to libcurl reports no other's figures`() async throws {
        let mayShake = Gate()
        let options = ServerOptions().with {
            $0.onConnect = { number in number == 0 ? .proceed : .proceedAfter(mayShake) }
        }
        let identity = try Identity.selfSigned(
            .server("localhost").with { $0.subject = .init(commonName: "localhost") }
        )
        let server = try TestServer(tls: TLSOptions(identity: identity), options: options) { _ in
            .text(String(repeating: "x", count: 5000))
        }
        let pins = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try Certificate(der: identity.certificateDER)],
            allowInvalidCertificates: true
        )
        let transport = CurlTransport()
        let body = HTTPBody.data(Data(repeating: 1, count: 3000))
        // The pool holds handles with figures afterwards.
        _ = try await transport.fetch(.post, server.url(), body: body, policy: pins)

        // Another policy, about whose connections nothing is known: the first request leads, the second waits for it.
        var context = TransportContext(policy: PinnedServer.lenient)
        context.delivery = .buffered(limit: 1 << 20)
        let request = HTTPRequest(.post, url: try #require(URL(string: server.url())), body: body)
        let other = try TestServer { _ in .json("{}") }
        let leader = Task { [context] in try await transport.send(request, context: context) }
        #expect(await server.until { $0.connections == 2 })
        // The leader has taken the used handle; this makes another one, with figures of its own.
        _ = try await transport.fetch(.post, other.url(), body: body)

        let metrics = MetricsRecorder()
        let progress = Shared<[TransferProgress]>([])
        context.metrics = metrics
        context.progress = { value in progress.withLock { $0.append(value) } }
        context.deadline = .now + .milliseconds(500)
        let error = try await failure { [context] in
            _ = try await transport.send(request, context: context)
        }
        guard case .timedOut(.total) = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(metrics.metrics.isEmpty)
        #expect(progress.value.isEmpty)
        #expect(server.counters.connections == 2)
        mayShake.open()
        _ = try await leader.value
    }
}
