import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import TestServer
import Testing

@testable import NetManager

@Suite struct SharedSettingsTests {
    private func echo() throws -> TestServer {
        try TestServer { .text($0.headers["Authorization"] ?? "none") }
    }

    private final class Token: Sendable {}

    /// Makes a request with an observer that holds a token, and lets go of the manager.
    private func tokenAfterRequest(_ transport: CurlTransport, _ url: String) async throws -> WeakToken {
        let token = Token()
        var configuration = HTTPSessionManager.Configuration()
        configuration.trustObserver = { _ in withExtendedLifetime(token) {} }
        let manager = HTTPSessionManager(configuration, transport: transport)
        #expect(try await manager.get(url, as: .string) == "none")
        return WeakToken(token: token)
    }

    private struct WeakToken {
        weak var token: Token?
    }

    @Test func `a handle that waits for its next request keeps nothing of the last one's configuration`()
        async throws
    {
        let server = try echo()
        let transport = CurlTransport()
        let kept = try await tokenAfterRequest(transport, server.url())
        // The engine's thread lets go of a transfer after it has answered it; the next answer comes after that.
        _ = try await transport.fetch(server.url())
        #expect(kept.token == nil)
    }

    @Test func `requests of different settings alternate on one handle`() async throws {
        let server = try echo()
        let transport = CurlTransport()
        let manager = HTTPSessionManager(transport: transport)
        var answers: [String] = []
        for user in ["a", "b", nil, "a", nil, "b"] {
            var options = RequestOptions()
            options.authentication = user.map { Authentication(user: $0, password: "p", schemes: .basic) }
            answers.append(try await manager.get(server.url(), options: options, as: .string))
        }
        #expect(answers == ["Basic YTpw", "Basic Yjpw", "none", "Basic YTpw", "none", "Basic Yjpw"])
    }

    @Test func `changed settings reach the next request and not the one before`() async throws {
        let server = try echo()
        let manager = HTTPSessionManager(transport: CurlTransport())
        #expect(try await manager.get(server.url(), as: .string) == "none")
        manager.updateConfiguration {
            $0.authentication = Authentication(user: "a", password: "p", schemes: .basic)
        }
        #expect(try await manager.get(server.url(), as: .string) == "Basic YTpw")
        manager.updateConfiguration { $0.authentication = nil }
        #expect(try await manager.get(server.url(), as: .string) == "none")
    }

    @Test func `copies of options and contexts are changed each by itself`() {
        var options = RequestOptions()
        var other = options
        other.timeout = .seconds(1)
        #expect(options.timeout == nil)
        options.isRepeatable = true
        #expect(!other.isRepeatable)
        #expect(other.timeout == .seconds(1))

        var context = TransportContext()
        let before = context
        context.maximumDecompressionRatio = 7
        context.policy = SecurityPolicy(validatesDomainName: false)
        #expect(before.maximumDecompressionRatio == 500)
        #expect(before.policy == .default)
        #expect(before.policyID != context.policyID)
        #expect(context.policyID == context.policy.policyID)
        #expect(context.maximumDecompressionRatio == 7)
    }
}
