import FoundationEssentials
import HTTPMessage
import NetManager
import TestPKI
import TestServer
import Testing

/// HTTP/2 inside of two layers of TLS, through a proxy that puts what a server sends into few records of its own.
@Suite(.enabled(if: NginxPeer.isInstalled, "nginx is not installed")) struct LayeredTLSTests {
    /// A server, a proxy that waits for more of its answers, and a manager that goes through it.
    private struct Way {
        let nginx: NginxPeer
        let proxy: ProxyPeer
        let manager: HTTPSessionManager

        init(files: [String: Data] = [:]) throws {
            let identity = try Identity.selfSigned(PinnedServer.certificateOptions)
            var options = NginxPeer.Options(identity: identity)
            options.files = files
            nginx = try NginxPeer(options)
            proxy = try ProxyPeer(.https(TLSOptions(identity: identity)), patience: .milliseconds(30))
            var configuration = HTTPSessionManager.Configuration(securityPolicy: PinnedServer.lenient)
            configuration.timeout = .seconds(60)
            configuration.connection.proxy = .https(
                host: "localhost",
                port: proxy.port,
                policy: PinnedServer.lenient
            )
            // All share one connection, readers too.
            var connections = CurlTransport.Configuration()
            connections.maximumStreamConnectionsPerHost = 0
            manager = HTTPSessionManager(configuration, transport: CurlTransport(connections))
        }
    }

    @Test func `answers that come in one record of the proxy's reach all who wait for them`() async throws {
        let way = try await started { try Way() }
        for _ in 0..<5 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let text = try await way.manager.get(way.nginx.url("/\(number)"), as: .string)
                        #expect(text == "hello")
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(way.proxy.passages.count == 1)
        #expect(way.proxy.counters.connections == 1)
    }

    @Test func `large and small answers and a slow reader share records of the proxy's`() async throws {
        let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let way = try await started { try Way(files: ["large": large]) }
        _ = try await way.manager.get(way.nginx.url("/first"), as: .string)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask {
                    switch number % 3 {
                    case 0:
                        #expect(try await way.manager.get(way.nginx.url("/large"), as: .data) == large)
                    case 1:
                        #expect(
                            try await way.manager.get(way.nginx.url("/\(number)"), as: .string) == "hello"
                        )
                    default:
                        let url = try #require(URL(string: way.nginx.url("/large")))
                        let read = try await way.manager.stream(HTTPRequest(url: url)) { response in
                            var read = Data()
                            for try await piece in response.body {
                                read.append(piece)
                                await Task.yield()
                            }
                            return read
                        }
                        #expect(read == large)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(way.proxy.counters.connections == 1)
    }
}
