import FoundationEssentials
import HTTPMessage
import Locks
import TestServer
import Testing

@testable import NetManager

/// Streams are decoded where they are read, and everything else about them is as if they were not coded.
@Suite struct StreamDecodingTests {
    /// 300 KB of text.
    private static let content = Data((0..<10_000).map { "line \($0) of a long text\n" }.joined().utf8)

    private func open(
        _ server: TestServer,
        _ path: String = "/",
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        on transport: CurlTransport = CurlTransport(),
        _ change: (inout TransportContext) -> Void = { _ in }
    ) async throws -> StreamedResponse {
        var context = TransportContext(deadline: .now + .seconds(300))
        change(&context)
        let url = try #require(URL(string: server.url(path)))
        return try await transport.send(HTTPRequest(method, url: url, headers: headers), context: context)
    }

    /// The error that reading the body of an answer ends with.
    private func error(of answer: Answer) async throws -> RequestError {
        let server = try TestServer { _ in answer }
        let response = try await open(server)
        return try await failure { _ = try await response.body.collect() }
    }

    private static func isProtocolError(_ error: RequestError) -> Bool {
        if case .protocolError = error.kind { true } else { false }
    }

    @Test(arguments: ["gzip", "deflate", "deflate, gzip"], [nil, 1_000])
    func `a coded stream is read decoded`(coding: String, chunk: Int?) async throws {
        let body = try coding.split(separator: ", ").reduce(Self.content) {
            try compressed($0, $1 == "gzip" ? .gzip : .deflate)
        }
        let answer = Answer.encoded(coding, body)
        let sent = chunk.map { answer.chunked($0, trailers: ["X-End": "there"]) } ?? answer
        let server = try TestServer { _ in sent }
        let response = try await open(server)
        #expect(response.head.headers["Content-Encoding"] == coding)
        var content = Data()
        for try await piece in response.body {
            #expect(!piece.isEmpty && piece.count <= 64 << 10)
            content += piece
        }
        #expect(content == Self.content)
        #expect(response.body.trailers["X-End"] == (chunk == nil ? nil : "there"))
        #expect(server.requests.first?.headers[values: "Accept-Encoding"] == ["gzip, deflate"])
    }

    @Test func `a handle that is used again asks for what its next call can decode`() async throws {
        let server = try TestServer { _ in .gzip("text") }
        let transport = CurlTransport()
        let url = server.url()
        for _ in 0..<2 {
            #expect(try await open(server, on: transport).body.collect() == Data("text".utf8))
            #expect(try await transport.fetch(url).body == Data("text".utf8))
            let raw = try await open(server, headers: ["Accept-Encoding": "gzip"], on: transport).body
                .collect()
            #expect(raw.first == 0x1F)
        }
        let asked = server.requests.map { $0.headers[values: "Accept-Encoding"] }
        #expect(asked[0] == ["gzip, deflate"] && asked[2] == ["gzip"])
        // What libcurl was built with.
        #expect(asked[1] == [try #require(CurlLibrary.acceptEncoding)])
        #expect(Array(asked[3...]) == Array(asked[..<3]))
        #expect(server.counters.connections == 1)
    }

    @Test func `pieces arrive decoded while the rest is still to come`() async throws {
        let gate = Gate()
        let coded =
            try compressed(Data(String(repeating: "first, ", count: 40).utf8)) + compressed(Self.content)
        let server = try TestServer { _ in
            .script([
                .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n"),
                .sendData(coded.prefix(60)), .wait(gate), .sendData(coded.dropFirst(60)), .close,
            ])
        }
        let response = try await open(server)
        var iterator = response.body.makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first.map { String(decoding: $0, as: UTF8.self) }?.hasPrefix("first") == true)
        gate.open()
        var rest = 0
        while let piece = try await iterator.next() { rest += piece.count }
        #expect(rest + (first?.count ?? 0) == 280 + Self.content.count)
    }

    @Test func `an answer without content has none, whatever its head says`() async throws {
        for (method, status) in [(HTTPMethod.head, 200), (.get, 204), (.get, 304), (.get, 200)] {
            for coding in ["gzip", "br", "nonsense"] {
                let server = try TestServer { _ in .status(status).header("Content-Encoding", coding) }
                let response = try await open(server, method: method)
                #expect(response.head.status == status)
                #expect(try await response.body.collect().isEmpty, "\(method) \(status) \(coding)")
            }
        }
    }

    @Test func `a coding that was not asked for is an error that names it`() async throws {
        let brotli = try await error(of: .encoded("br", Data("…".utf8)))
        #expect(Self.isProtocolError(brotli), "\(brotli)")
        #expect(brotli.detail?.contains("br, which was not asked for") == true)
        #expect(brotli.response?.head.status == 200)
        #expect(brotli.phase == .idle)
        let secret = try await error(of: .encoded("gzip, secret", Data("…".utf8)))
        #expect(Self.isProtocolError(secret), "\(secret)")
        #expect(!"\(secret)".contains("secret"))
        let many = try await error(of: .encoded("gzip, gzip, gzip, gzip, gzip, gzip", Data("…".utf8)))
        #expect(Self.isProtocolError(many), "\(many)")
        #expect(many.detail?.contains("more than 5 codings") == true)
    }

    @Test func `bytes that are not in their coding are an error, now and when asked again`() async throws {
        let gzip = try compressed(Self.content)
        var flawed = gzip
        flawed[flawed.count - 5] ^= 1
        for bytes in [Data("no gzip at all".utf8), flawed, gzip + Data("garbage".utf8)] {
            let server = try TestServer { _ in .encoded("gzip", bytes) }
            let response = try await open(server)
            var kinds: [RequestError] = []
            for _ in 0..<2 {
                kinds.append(try await failure { for try await _ in response.body {} })
            }
            #expect(kinds.allSatisfy(Self.isProtocolError), "\(kinds)")
        }
    }

    @Test func `a coding that ends early is like a connection that ends early`() async throws {
        let gzip = try compressed(Self.content)
        for bytes in [gzip.prefix(1), gzip.dropLast(), gzip.prefix(5_000)] {
            let error = try await error(of: .encoded("gzip", Data(bytes)))
            guard case .connectionLost = error.kind else {
                Issue.record("\(error)")
                return
            }
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n\r\n"
        let error = try await error(of: .script([.send(head), .sendData(gzip.prefix(5_000)), .close]))
        guard case .connectionLost = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `transfer codings that nobody asked for are refused`() async throws {
        let body = "5\r\nhello\r\n0\r\n\r\n"
        for (coding, isAccepted) in [("chunked", true), ("gzip, chunked", false), ("GZIP,chunked", false)] {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n"
            let server = try TestServer { _ in .raw(head + body) }
            if isAccepted {
                #expect(try await open(server).body.collect() == Data("hello".utf8))
            } else {
                let error = try await failure { _ = try await open(server).body.collect() }
                #expect(Self.isProtocolError(error), "\(error)")
            }
        }
    }

    @Test func `a stream that decodes to far more than was received is refused`() async throws {
        let bomb = try compressed(Data(count: 64 << 20))
        let server = try TestServer { _ in .encoded("gzip", bomb) }
        let recorder = MetricsRecorder()
        let response = try await open(server) {
            $0.maximumDecompressionRatio = 100
            $0.metrics = recorder
        }
        var decoded = 0
        let error = try await failure { for try await piece in response.body { decoded += piece.count } }
        #expect(Self.isProtocolError(error), "\(error)")
        #expect(error.detail?.contains("looks like an attack") == true)
        #expect(decoded <= max(8 << 20, 101 * bomb.count))
        // The figures of the attempt are there when the caller is told.
        #expect(recorder.metrics.count == 1)
        // The same body passes where the ratio is allowed.
        let again = try await open(server) { $0.maximumDecompressionRatio = 2_000 }
        var count = 0
        for try await piece in again.body { count += piece.count }
        #expect(count == 64 << 20)
    }

    @Test func `a stream is a bomb by what has arrived, not by its length`() async throws {
        let bomb = try compressed(Data(count: 64 << 20))
        let server = try TestServer { _ in .encoded("gzip", bomb).with { $0.repeatedLength = 1 << 30 } }
        let response = try await open(server)
        let error = try await failure { for try await _ in response.body {} }
        #expect(Self.isProtocolError(error), "\(error)")
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func `the limit of a collected stream counts decoded bytes`() async throws {
        let coded = try compressed(Data(count: 2_000_000))
        let server = try TestServer { _ in .encoded("gzip", coded) }
        let response = try await open(server)
        await #expect(throws: BodyTooLarge.self) { try await response.body.collect(upTo: 1_999_999) }
        #expect(try await open(server).body.collect(upTo: 2_000_000).count == 2_000_000)
    }

    @Test func `progress counts decoded bytes, metrics those that were received`() async throws {
        let coded = try compressed(Self.content)
        let server = try TestServer { _ in .encoded("gzip", coded) }
        let (meter, recorder) = (ProgressMeter(), MetricsRecorder())
        let response = try await open(server) {
            $0.meter = meter
            $0.metrics = recorder
        }
        #expect(try await response.body.collect() == Self.content)
        #expect(meter.progress.completed == Int64(Self.content.count))
        #expect(meter.progress.total == nil)
        #expect(meter.progress.direction == .download)
        #expect(recorder.metrics.map(\.bodyBytesReceived) == [Int64(coded.count)])
    }

    @Test func `a body has one reader at a time`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .gzip("text").holdingBody(until: gate) }
        let body = try await open(server).body
        let readers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<2 {
                group.addTask { (try? await body.collect()) == Data("text".utf8) }
            }
            // The one that came second is told so while the first waits.
            var results = [await group.next()]
            gate.open()
            results.append(await group.next())
            return results
        }
        #expect(readers == [false, true])
    }

    @Test func `a reader that is cancelled while it waits, or dropped, ends the transfer`() async throws {
        let member = try compressed(Data(count: 1 << 20))
        let gate = Gate()
        let server = try TestServer { _ in
            .script([
                .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1000000\r\n\r\n"),
                .sendData(member), .wait(gate),
            ])
        }
        let transport = CurlTransport()
        let response = try await open(server, on: transport)
        let (pieces, arrived) = AsyncStream<Int>.makeStream()
        let reader = Task {
            for try await piece in response.body { arrived.yield(piece.count) }
        }
        var count = 0
        for await piece in pieces {
            count += piece
            if count == 1 << 20 { break }
        }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(await server.until { $0.openConnections == 0 })
        do {
            let dropped = try await open(server, on: transport)
            for try await _ in dropped.body { break }
        }
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func `a stream that was let go of brings nothing more, though it has arrived`() async throws {
        let coded = try compressed(Data(count: 4 << 20))
        let server = try TestServer { _ in .encoded("gzip", coded) }
        let response = try await open(server)
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() != nil)
        response.body.abandon()
        await #expect(throws: CancellationError.self) { try await iterator.next() }
    }

    @Test func `nothing is decoded on the engine's thread`() async throws {
        let coded = try compressed(Data(count: 8 << 20))
        let server = try TestServer { _ in .encoded("gzip", coded) }
        let transport = CurlTransport()
        let response = try await open(server, on: transport)
        // A reader that is where the library's own steps are; that it is not there while it decodes is asserted where
        // that happens.
        let (count, wasThere) = try await withTaskExecutorPreference(transport.executor) {
            let wasThere = transport.engine.isCurrentThread
            return (try await response.body.collect().count, wasThere)
        }
        #expect(wasThere)
        #expect(count == 8 << 20)
    }

    @Test func `a body that nobody wants is let go of without being decoded`() async throws {
        let bomb = try compressed(Data(count: 1 << 20))
        let server = try TestServer { _ in .encoded("gzip", bomb) }
        let transport = CurlTransport()
        for _ in 0..<2 {
            // Decoded, it would be longer than what is read for the sake of the connection.
            try await open(server, on: transport).body.discard()
        }
        #expect(server.counters.connections == 1)
    }

    @Test func `lines, events and files come of coded streams`() async throws {
        let lines = try compressed(Data("one\ntwo\n\nthree".utf8) + Data(count: 100))
        let comment = String(repeating: " ", count: 99)
        let events = try compressed(Data("data: a\n\ndata: b\n\n: \(comment)\n\n".utf8))
        let coded = try compressed(Self.content)
        let server = try TestServer { request in
            request.path == "/lines"
                ? .encoded("gzip", lines)
                : request.path == "/events"
                    ? .encoded("gzip", events, type: "text/event-stream")
                    : .encoded("gzip", coded)
        }
        let read = try await open(server, "/lines").body.lines.reduce(into: []) { $0.append($1) }
        #expect(read.prefix(3) == ["one", "two", ""])
        let seen = try await open(server, "/events").body.events(limit: 1_000).reduce(into: []) {
            $0.append($1.data)
        }
        #expect(seen == ["a", "b"])
        let folder = try TemporaryFolder()
        let file = try await HTTPSessionManager().download(server.url("/file"), to: folder.path + "/file")
        #expect(file.size == Int64(Self.content.count))
        #expect(FileManager.default.contents(atPath: file.path) == Self.content)
    }
}
