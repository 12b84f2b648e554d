import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// The named cases of the proposal for a Swift HTTP API: exchanges.
@Suite struct ConformanceExchangeTests {
    private let transport = CurlTransport()
    private let manager = HTTPSessionManager(transport: CurlTransport())

    @Test func `conformance EchoString: what is sent comes back`() async throws {
        let server = try TestServer { .text($0.text) }
        let response = try await transport.fetch(
            .post,
            server.url("/"),
            body: .data(Data("Hello, World!".utf8))
        )
        #expect(String(decoding: response.body, as: UTF8.self) == "Hello, World!")
    }

    @Test func `conformance Echo1MBBody: what is sent comes back, a megabyte of it`() async throws {
        let server = try TestServer { .data($0.body) }
        let body = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
        #expect(try await transport.fetch(.post, server.url("/"), body: .data(body)).body == body)
    }

    @Test func `conformance BasicRedirect: a redirect is followed`() async throws {
        let server = try TestServer { $0.path == "/" ? .redirect(to: "/there") : .json("\"\($0.path)\"") }
        #expect(try await manager.get(server.url()) == "/there")
    }

    @Test func `conformance InfiniteRedirect: an endless redirect ends`() async throws {
        let server = try TestServer { .redirect(to: $0.path + "x") }
        let error = await requestError { _ = try await manager.get(server.url()) }
        #expect(error?.label == "too_many_redirects")
        #expect(server.counters.requests <= 21)
    }

    @Test func `conformance GetConvenience: a GET is one call`() async throws {
        let server = try TestServer { .json("{\"\($0.method)\": \"\($0.target)\"}") }
        #expect(try await manager.get(server.url(), parameters: ["a": 1]) == ["GET": "/?a=1"])
    }

    @Test func `conformance PostConvenience: a POST is one call`() async throws {
        let server = try TestServer { .json("{\"\($0.method)\": \"\($0.text)\"}") }
        #expect(try await manager.post(server.url(), parameters: ["a": 1]) == ["POST": "a=1"])
    }

    @Test func `conformance StressTest: a hundred exchanges at once all end well`() async throws {
        let server = try TestServer { .text($0.text) }
        let texts = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let body = Data("exchange \(number)".utf8)
                    return try await transport.fetch(.post, server.url("/"), body: .data(body)).body == body
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == [Bool](repeating: true, count: 100))
    }

    @Test func `conformance CancelPreHeaders: a call is cancelled before there is a head`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("").after(gate) }
        let url = server.url()
        let call = Task { try await transport.fetch(url) }
        await gate.reached()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(await server.until { $0.openConnections == 0 })
        gate.open()
    }

    @Test func `conformance CancelPreBody: a call is cancelled before there is a body`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("late").holdingBody(until: gate) }
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        let head = Latch()
        let call = Task {
            try await manager.stream(request) { response in
                head.open()
                return try await response.body.collect()
            }
        }
        await head.wait()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(await server.until { $0.openConnections == 0 })
        gate.open()
    }

    @Test func `conformance UnderRead: a body that is not read to its end is let go of`() async throws {
        let server = try TestServer { _ in .bytes(100_000_000) }
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        let first = try await manager.stream(request) { response in
            for try await piece in response.body { return piece.count }
            return 0
        }
        #expect(first > 0)
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func `conformance DripRead: a body may come byte by byte`() async throws {
        let server = try TestServer { _ in
            .script([.send("HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n"), .sendSlowly(Self.alphabet)])
        }
        #expect(
            String(decoding: try await transport.fetch(server.url()).body, as: UTF8.self) == Self.alphabet
        )
    }

    private static let alphabet = "abcdefghijklmnopqrstuvwxyz"

    @Test func `conformance BasicCookieSetAndUse: a cookie that was set is sent`() async throws {
        let server = try TestServer {
            $0.path == "/set"
                ? Answer.json("{}").header("Set-Cookie", "a=1; Path=/")
                : .json("\"\($0.headers["Cookie"] ?? "none")\"")
        }
        let manager = HTTPSessionManager(CurlTransport()) { $0.cookieJar = CookieJar() }
        #expect(try await manager.get(server.url("/use")) == "none")
        _ = try await manager.get(server.url("/set"))
        #expect(try await manager.get(server.url("/use")) == "a=1")
    }

    // MARK: Fields behind the content

    @Test func `conformance TrailerRead: fields behind the content are read`() async throws {
        let server = try TestServer { _ in
            .text("content").chunked(3, trailers: ["X-Digest": "abc", "x-two": ""])
        }
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        let response = try await manager.send(request)
        #expect(String(decoding: response.body, as: UTF8.self) == "content")
        #expect(response.trailers["X-Digest"] == "abc")
        #expect(response.trailers["X-Two"] == "")
        #expect(!response.head.headers.contains("X-Digest"))
        let streamed = try await manager.stream(request) { response in
            let content = try await response.body.collect()
            return (count: content.count, trailers: response.body.trailers)
        }
        #expect(streamed.count == 7)
        #expect(streamed.trailers["X-Digest"] == "abc")
    }

    @Test func `conformance TrailerWrite: fields behind the content are sent`() async throws {
        let server = try TestServer { .text("\($0.bodyLength)") }
        let pieces = AsyncStream<Data> { stream in
            for text in ["con", "tent"] { stream.yield(Data(text.utf8)) }
            stream.finish()
        }
        let body = HTTPBody.stream(pieces) { ["X-Digest": "abc", "x-two": ""] }
        let url = try #require(URL(string: server.url()))
        let response = try await manager.send(HTTPRequest(.post, url: url, body: body))
        #expect(String(decoding: response.body, as: UTF8.self) == "7")
        let request = try #require(server.requests.first)
        #expect(request.text == "content")
        #expect(request.headers["Transfer-Encoding"] == "chunked")
        #expect(request.trailers["X-Digest"] == "abc")
        #expect(request.trailers["X-Two"] == "")
        #expect(!request.headers.contains("X-Digest"))
    }

    @Test func `a response without fields behind its content has none`() async throws {
        let server = try TestServer { _ in .text("content").header("X-Digest", "head") }
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        #expect(try await manager.send(request).trailers.isEmpty)
    }

    // MARK: Both directions at a time

    /// Sends one piece after the other, each when it is told to.
    private static func conversation(
        _ script: [Step],
        turns: Int,
        speaksFirst: Bool,
        over transport: CurlTransport
    ) async throws -> String {
        let answer = Answer.script([Step.send(chunkedHead)] + script)
        let options = ServerOptions().with { $0.onHead = { _ in .answer(answer) } }
        let server = try TestServer(options: options) { _ in .status(500) }
        let (pieces, source) = AsyncStream<Data>.makeStream()
        let body = HTTPBody.stream(pieces, length: Int64(turns))
        let request = HTTPRequest(.post, url: try #require(URL(string: server.url())), body: body)
        let response = try await transport.send(
            request,
            context: TransportContext(deadline: .now + .seconds(60))
        )
        var heard = ""
        var said = 0
        func say() {
            said += 1
            source.yield(Data("\(said)".utf8))
            if said == turns { source.finish() }
        }
        if speaksFirst { say() }
        for try await piece in response.body {
            heard += String(decoding: piece, as: UTF8.self)
            if said < turns { say() }
        }
        return heard
    }

    private static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func `conformance EchoInterleave: each piece comes back before the next is sent`() async throws {
        let script: [Step] = [.echo(1), .echo(1), .echo(1), .send("0\r\n\r\n"), .close]
        let heard = try await Self.conversation(script, turns: 3, speaksFirst: true, over: transport)
        #expect(heard == "123")
    }

    @Test func `conformance SpeakInterleave: the server speaks first, and both take turns`() async throws {
        let script: [Step] = [
            .send("1\r\na\r\n"), .echo(1), .send("1\r\nb\r\n"), .echo(1), .send("0\r\n\r\n"), .close,
        ]
        let heard = try await Self.conversation(script, turns: 2, speaksFirst: false, over: transport)
        #expect(heard == "a1b2")
    }
}
