import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import TestServer
import Testing

@testable import NetManager

/// Requests that are made to be misread, on handles that have worked for others before.
@Suite struct HostileRequestTests {
    @Test(arguments: ["/secret", "secret", "//127.0.0.1/secret", "?secret"])
    func `a relative URL is refused and not resolved against the request before`(url: String) async throws {
        let server = try TestServer { _ in .text("inner") }
        let transport = CurlTransport()
        _ = try await transport.fetch(server.url())
        let error = try await failure { _ = try await transport.fetch(url) }
        guard case .invalidURL = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(server.counters.requests == 1)
    }

    @Test func `texts that look alike are sent as their own bytes on a handle that is used again`()
        async throws
    {
        let server = try TestServer { _ in .text("") }
        let transport = CurlTransport()
        let values = ["caf\u{E9}", "cafe\u{301}", "caf\u{E9}"]
        for value in values { _ = try await transport.fetch(server.url(), headers: ["X-Name": value]) }
        let received = server.requests.map { Array(($0.headers["X-Name"] ?? "").utf8) }
        #expect(received == values.map { Array($0.utf8) })
    }

    @Test func `unix sockets whose paths look alike are two`() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/nm-\(UUID().uuidString.prefix(8))"
        let servers = try ["\u{E9}", "e\u{301}"].map { name in
            try TestServer(options: ServerOptions().with { $0.listen = .unixSocket("\(folder)\(name)") }) {
                _ in
                .text("\(name.utf8.count)")
            }
        }
        let transport = CurlTransport()
        for name in ["\u{E9}", "e\u{301}"] {
            var context = TransportContext()
            context.connection.unixSocketPath = folder + name
            let request = HTTPRequest(url: try #require(URL(string: "http://h/")))
            let response = try await transport.send(request, context: context)
            #expect(try await response.body.collect() == Data("\(name.utf8.count)".utf8))
        }
        withExtendedLifetime(servers) {}
    }

    @Test func `HEAD with an empty body does not wait for the content of the answer`() async throws {
        let server = try TestServer { _ in .bytes(100) }
        let response = try await CurlTransport().fetch(.head, server.url(), body: .data(Data()))
        #expect(response.head.status == 200)
        #expect(response.body.isEmpty)
    }

    @Test func `user info of one request is not sent with the next`() async throws {
        let server = try TestServer { _ in .text("") }
        let transport = CurlTransport()
        _ = try await transport.fetch("http://user:pass@127.0.0.1:\(server.port)/")
        _ = try await transport.fetch(server.url())
        #expect(server.requests.map { $0.headers["Authorization"] != nil } == [true, false])
    }

    @Test func `a trailing dot or capitals name the same server, which is verified all the same`()
        async throws
    {
        let pinned = try PinnedServer()
        let transport = CurlTransport()
        let wrong = try PinnedServer.strictAboutAnother(.publicKey)
        for host in ["localhost", "localhost.", "LOCALHOST", "localhost"] {
            let request = HTTPRequest(
                url: try #require(URL(string: "https://\(host):\(pinned.server.port)/"))
            )
            var context = TransportContext(policy: pinned.pinned, deadline: .now + .seconds(60))
            // Resolvers need not know the name with a dot.
            context.connection.overrides = [.init(host: host, toHost: "127.0.0.1")]
            #expect(try await transport.send(request, context: context).head.status == 200)
            context.policy = wrong
            let strict = context
            let error = try await failure { _ = try await transport.send(request, context: strict) }
            guard case .untrustedServer(.pinMismatch) = error.kind else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(pinned.server.counters.requests == 4)
    }

    @Test func `a number in disguise is no host with a policy of its own`() async throws {
        let server = try PinnedServer()
        var configuration = HTTPSessionManager.Configuration()
        configuration.hostPolicies = HostPolicies(
            [try #require(HostPattern("127.0.0.1")): try PinnedServer.strictAboutAnother(.certificate)],
            fallback: PinnedServer.lenient
        )
        let manager = HTTPSessionManager(configuration, transport: CurlTransport())
        for host in ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "127.0.0.0x1"] {
            _ = try await failure { _ = try await manager.get("https://\(host):\(server.server.port)/") }
        }
        #expect(server.server.counters.requests == 0)
    }
}
