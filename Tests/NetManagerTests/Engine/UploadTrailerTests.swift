import FoundationEssentials
import HTTPMessage
import Locks
import NetManager
import TestPKI
import TestServer
import Testing

/// Header fields behind the content of a request.
@Suite struct UploadTrailerTests {
    private func pieces(_ texts: String...) -> AsyncStream<Data> {
        AsyncStream { stream in
            for text in texts { stream.yield(Data(text.utf8)) }
            stream.finish()
        }
    }

    @Test func `requests behind one with trailers are sent as they are, whatever their bodies`() async throws
    {
        let server = try TestServer { .text("\($0.bodyLength)") }
        let transport = CurlTransport()
        for number in 0..<20 {
            let body: HTTPBody =
                switch number % 4 {
                case 0: .stream(pieces("a", "bc")) { ["X-Number": "\(number)"] }
                case 1: .stream(pieces("a", "bc"))
                case 2: .stream(pieces("abc"), length: 3)
                default: .data(Data("abc".utf8))
                }
            let response = try await transport.fetch(.post, server.url(), body: body)
            #expect(String(decoding: response.body, as: UTF8.self) == "3")
        }
        let requests = server.requests
        #expect(requests.map(\.text) == [String](repeating: "abc", count: 20))
        for (number, request) in requests.enumerated() {
            #expect(request.trailers["X-Number"] == (number % 4 == 0 ? "\(number)" : nil))
        }
        // The handle is given up, the connection is not.
        #expect(server.counters.connections == 1)
    }

    @Test func `trailers are made when the content has been drawn`() async throws {
        let server = try TestServer { .text("\($0.bodyLength)") }
        let drawn = Shared(0)
        let source = AsyncStream<Data> {
            let count = drawn.withLock { drawn in
                drawn += 1
                return drawn
            }
            return count > 50 ? nil : Data(count: 10_000)
        }
        let body = HTTPBody.stream(source) { ["X-Drawn": "\(drawn.value)"] }
        let response = try await CurlTransport().fetch(.put, server.url(), body: body)
        #expect(String(decoding: response.body, as: UTF8.self) == "500000")
        #expect(server.requests.first?.trailers["X-Drawn"] == "51")
    }

    @Test func `a content of nothing may have trailers, and none may follow one`() async throws {
        let server = try TestServer { .text("\($0.bodyLength)") }
        let transport = CurlTransport()
        for trailers: HTTPHeaders in [["X-One": "1"], [:]] {
            let body = HTTPBody.stream(pieces()) { trailers }
            let response = try await transport.fetch(.post, server.url(), body: body)
            #expect(String(decoding: response.body, as: UTF8.self) == "0")
        }
        #expect(server.requests.map { $0.trailers["X-One"] } == ["1", nil])
    }

    @Test(
        arguments: [
            ["Content-Length": "3"], ["authorization": "secret"], ["Transfer-Encoding": "chunked"],
            ["X": "a\r\nY: b"],
            ["not a name": "a"], ["Host": "other"], ["": "a"],
        ] as [HTTPHeaders]
    )
    func `a field that may not follow a content fails the request`(trailers: HTTPHeaders) async throws {
        let server = try TestServer { .text("\($0.bodyLength)") }
        let body = HTTPBody.stream(pieces("abc")) { trailers }
        let error = try await failure { _ = try await CurlTransport().fetch(.post, server.url(), body: body) }
        #expect(error.label == "invalid_request")
        #expect(!"\(error)".contains("secret"))
        #expect(await server.until { $0.openConnections == 0 })
        #expect(server.requests.isEmpty)
    }

    @Test func `trailers that cannot be made fail the request`() async throws {
        struct Broken: Error {}
        let server = try TestServer { .text("\($0.bodyLength)") }
        let body = HTTPBody.stream(pieces("abc")) { throw Broken() }
        let error = try await failure { _ = try await CurlTransport().fetch(.post, server.url(), body: body) }
        #expect(error.label == "invalid_request")
        #expect(await server.until { $0.openConnections == 0 })
        #expect(server.requests.isEmpty)
    }

    @Test func `a body with trailers is not sent a second time for a challenge`() async throws {
        let server = try TestServer { request in
            request.headers.contains("Authorization")
                ? .text("in") : Answer.status(401).header("WWW-Authenticate", "Basic realm=\"x\"")
        }
        var context = TransportContext(deadline: .now + .seconds(60))
        context.authentication = Authentication(user: "ann", password: "p", schemes: [.basic, .digest])
        let request = HTTPRequest(
            .put,
            url: try #require(URL(string: server.url())),
            body: .stream(pieces()) { ["X-One": "1"] }
        )
        let error = try await failure {
            _ = try await CurlTransport().send(request, context: context).body.collect()
        }
        #expect(error.label == "outcome_unknown" || error.label == "connection_lost", "\(error)")
        #expect(server.requests.count == 1)
    }

    @Test(.enabled(if: NginxPeer.isInstalled, "nginx is not installed"))
    func `a request with trailers goes over HTTP 1.1 to a server that speaks HTTP 2`() async throws {
        let nginx = try await started {
            // It answers before it has read the body; on a busy machine that comes late.
            let options = NginxPeer.Options(identity: try .selfSigned(PinnedServer.certificateOptions))
            return try NginxPeer(
                options.with { $0.directives = "lingering_time 300s; lingering_timeout 300s;" }
            )
        }
        let transport = CurlTransport()
        var versions: [HTTPVersion] = []
        for number in 0..<4 {
            let body: HTTPBody? = number % 2 == 1 ? .stream(pieces("abc")) { ["X-One": "1"] } : nil
            let response = try await transport.fetch(
                .put,
                nginx.url("/\(number)"),
                body: body,
                policy: PinnedServer.lenient
            )
            #expect(response.head.status == 200)
            versions.append(response.head.version)
        }
        #expect(versions == [.http2, .http1_1, .http2, .http1_1])
        // Each version has a connection of its own, which is used again.
        #expect(nginx.connections == 2)
    }
}
