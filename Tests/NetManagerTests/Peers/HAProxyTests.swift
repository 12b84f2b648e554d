import NetManager
import TestPKI
import TestServer
import Testing

/// Behind a real load balancer, as most servers are.
@Suite(.enabled(if: HAProxyPeer.isInstalled, "haproxy is installed by scripts/test"))
struct HAProxyTests {
    private func peer(
        before server: Int,
        protocols: String = "h2,http/1.1",
        directives: String = ""
    ) async throws -> HAProxyPeer {
        try await started {
            try HAProxyPeer(
                .selfSigned(PinnedServer.certificateOptions),
                before: server,
                protocols: protocols,
                directives: directives
            )
        }
    }

    private func manager(
        configure: (inout HTTPSessionManager.Configuration) -> Void = { _ in }
    ) -> HTTPSessionManager {
        var configuration = HTTPSessionManager.Configuration(securityPolicy: PinnedServer.lenient)
        configure(&configuration)
        return HTTPSessionManager(configuration, transport: CurlTransport())
    }

    @Test(arguments: [("h2", HTTPVersion.http2), ("http/1.1", .http1_1)])
    func `requests of all kinds pass, many at a time`(protocols: String, version: HTTPVersion) async throws {
        let server = try TestServer { .data($0.body, type: $0.headers["Content-Type"]) }
        let peer = try await peer(before: server.port, protocols: protocols)
        let manager = manager()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                group.addTask {
                    let body = Data(repeating: UInt8(number), count: number * 10_000)
                    let url = try #require(URL(string: peer.url("/\(number)")))
                    let response = try await manager.send(HTTPRequest(.post, url: url, body: .data(body)))
                    #expect(response.body == body)
                    #expect(response.head.version == version)
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(server.requests.map(\.target)) == Set((0..<30).map { "/\($0)" }))
        #expect(server.requests.allSatisfy { $0.headers["X-Forwarded-For"] == "127.0.0.1" })
    }

    @Test(arguments: ["h2", "http/1.1"])
    func `a broken server behind it, or none, is told as such, and a POST is executed once`(protocols: String)
        async throws
    {
        let server = try TestServer { _ in .script([.close]) }
        let peer = try await peer(before: server.port, protocols: protocols)
        for method in [HTTPMethod.get, .post] {
            let url = try #require(URL(string: peer.url("/\(method)")))
            do {
                // It says 502 itself, or it gives the stream up, so that the client sends a read again. It does so with
                // REFUSED_STREAM, which promises that nothing was processed (RFC 9113, section 8.7), although the server
                // behind had the request: whoever believes that executes a POST twice.
                #expect(try await manager().send(HTTPRequest(method, url: url)).head.status == 502)
            } catch let error as RequestError {
                #expect(protocols == "h2")
                #expect(error.label == (method == .get ? "connection_lost" : "outcome_unknown"))
            }
        }
        #expect(server.requests.count { $0.method == "POST" } == 1)
        server.stop()
        let url = try #require(URL(string: peer.url()))
        #expect(try await manager().send(HTTPRequest(url: url)).head.status == 503)
    }

    @Test func `429 with Retry-After is waited for and sent again`() async throws {
        let server = try TestServer { _ in .json("1") }
        let busy = "http-request return status 429 hdr retry-after 1 if { path /busy }"
        let peer = try await peer(before: server.port, directives: busy)
        let time = VirtualTime()
        let manager = manager {
            $0.retryPolicy = RetryPolicy()
            $0.time = time.source()
        }
        let error = await requestError { _ = try await manager.get(peer.url("/busy")) }
        #expect(error?.label == "status_4xx")
        #expect(time.sleeps == [.seconds(1), .seconds(1)])
        #expect(server.counters.requests == 0)
        #expect(try await manager.get(peer.url("/free")) == 1)
    }

    @Test(arguments: ["h2", "http/1.1"])
    func `connections that the balancer closes when they idle cost no read, and no write is sent twice`(
        protocols: String
    ) async throws {
        let server = try TestServer { _ in .json("1") }
        let peer = try await peer(
            before: server.port,
            protocols: protocols,
            directives: "timeout http-keep-alive 1ms"
        )
        let manager = manager { $0.retryPolicy = .connectionLost }
        var unknown = 0
        for number in 0..<40 {
            _ = try await manager.get(peer.url("/read"))
            let error = await requestError { _ = try await manager.post(peer.url("/write/\(number)")) }
            // The close may be under way when the request is: then nobody can know.
            if let error {
                #expect(error.label == "outcome_unknown", "\(error)")
                unknown += 1
            }
        }
        let writes = server.requests.filter { $0.method == "POST" }.map(\.target)
        #expect(Set(writes).count == writes.count)
        #expect(writes.count >= 40 - unknown)
    }

    @Test(arguments: 0..<5)
    func `nothing goes over a connection of HTTP/1.1 that is in use, although the server multiplexes`(
        round: Int
    )
        async throws
    {
        let server = try TestServer { .text($0.method) }
        let peer = try await peer(before: server.port)
        let manager = manager { $0.timeout = .seconds(30) }
        let (pieces, source) = AsyncStream<Data>.makeStream()
        source.yield(Data("a".utf8))
        // Fields behind a content are for HTTP/1.1 alone; the content does not end before the reads do.
        let url = try #require(URL(string: peer.url()))
        let written = Task {
            try await manager.send(HTTPRequest(.post, url: url, body: .stream(pieces) { ["X-Count": "1"] }))
        }
        #expect(await server.until { $0.openConnections == 1 })
        for _ in 0..<10 { #expect(try await manager.get(peer.url(), as: .string) == "GET") }
        source.finish()
        #expect(try await written.value.head.version == .http1_1)
    }
}
