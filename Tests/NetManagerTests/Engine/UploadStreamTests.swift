import Dispatch
import FoundationEssentials
import HTTPMessage
import Locks
import NetManager
import TestServer
import Testing

@Suite struct UploadStreamTests {
    private func server() throws -> TestServer {
        try TestServer { .text("\($0.bodyLength)") }
    }

    /// Pieces of the alphabet.
    private func pieces(_ count: Int, of size: Int) -> AsyncStream<Data> {
        let piece = Data((0..<size).map { UInt8(97 + $0 % 26) })
        return AsyncStream { stream in
            for _ in 0..<count { stream.yield(piece) }
            stream.finish()
        }
    }

    /// The request fails by what is wrong with its body, and the server gets no whole one.
    private func expectBroken(by body: HTTPBody, at server: TestServer) async throws {
        let error = try await failure { _ = try await CurlTransport().fetch(.post, server.url(), body: body) }
        guard case .invalidRequest = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(await server.until { $0.openConnections == 0 })
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [(1, 1), (100, 7), (300_000, 1), (64, 65_536), (3, 3_000_000)])
    func `a stream of declared length is sent with it`(count: Int, size: Int) async throws {
        let server = try server()
        let body = HTTPBody.stream(pieces(count, of: size), length: Int64(count * size))
        let response = try await CurlTransport().fetch(.post, server.url(), body: body)
        #expect(String(decoding: response.body, as: UTF8.self) == "\(count * size)")
        #expect(server.requests.first?.headers["Content-Length"] == "\(count * size)")
    }

    @Test(arguments: [49, 51, 99, 101])
    func `report 27: a stream that is longer or shorter than declared breaks the request`(length: Int)
        async throws
    {
        let server = try server()
        try await expectBroken(by: .stream(pieces(2, of: 50), length: Int64(length)), at: server)
    }

    @Test func `a stream that throws breaks the request`() async throws {
        struct Broken: Error {}
        let server = try server()
        let pieces = AsyncThrowingStream<Data, any Error> { stream in
            stream.yield(Data("begin".utf8))
            stream.finish(throwing: Broken())
        }
        try await expectBroken(by: .stream(pieces), at: server)
    }

    @Test func `a stream that is slow is waited for`() async throws {
        let server = try server()
        let (pieces, source) = AsyncStream<Data>.makeStream()
        let transport = CurlTransport()
        let url = server.url()
        let call = Task { try await transport.fetch(.post, url, body: .stream(pieces)) }
        #expect(await server.until { $0.requests == 1 })
        for _ in 0..<5 {
            source.yield(Data("abc".utf8))
            await Task.yield()
        }
        source.finish()
        #expect(String(decoding: try await call.value.body, as: UTF8.self) == "15")
    }

    @Test func `a file is sent whole, with its length`() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "netmanager-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "body")
        try Data((0..<1_000_001).map { UInt8($0 % 251) }).write(to: file)
        let server = try server()
        _ = try await CurlTransport().fetch(.put, server.url(), body: .file(file.path))
        let request = try #require(server.requests.first)
        #expect(request.headers["Content-Length"] == "1000001")
        #expect(try request.body == Data(contentsOf: file))
    }

    @Test(arguments: ["/nonexistent/body", "/"])
    func `a file that cannot be read is an error before any traffic`(path: String) async throws {
        let server = try server()
        let error = try await failure {
            _ = try await CurlTransport().fetch(.put, server.url(), body: .file(path))
        }
        guard case .file = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(server.counters.connections == 0)
    }

    @Test(arguments: [307, 400, 413, 503])
    func `an early answer ends the upload, also while it waits for its source`(status: Int) async throws {
        let isDry = DispatchSemaphore(value: 0)
        // The answer comes once the source was asked for more than it has.
        let options = ServerOptions().with {
            $0.onHead = { _ in
                _ = isDry.wait(timeout: .now() + 20)
                return .answer(.status(status))
            }
        }
        let server = try TestServer(options: options) { _ in .text("") }
        let transport = CurlTransport()
        for _ in 0..<20 {
            let begin = Guarded<Data?>(Data("begin".utf8))
            let (never, end) = AsyncStream<Data>.makeStream()
            let pieces = AsyncStream<Data> {
                if let piece = begin.withLock({ $0.take() }) { return piece }
                isDry.signal()
                return await never.first { _ in true }
            }
            let response = try await transport.fetch(.post, server.url(), body: .stream(pieces))
            #expect(response.head.status == status)
            end.finish()
        }
    }

    @Test func `an answer that is complete counts although its server closes before it has the body`()
        async throws
    {
        let gate = Gate()
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        let options = ServerOptions().with {
            $0.onHead = { _ in .answer(.script([.send(text), .wait(gate), .reset])) }
        }
        let server = try TestServer(options: options) { _ in .text("") }
        let request = HTTPRequest(
            .put,
            url: try #require(URL(string: server.url())),
            body: .stream(AsyncStream { Data(count: 64 << 10) })
        )
        let response = try await CurlTransport().send(request, context: TransportContext())
        #expect(response.head.status == 200)
        gate.open()
        #expect(try await response.body.collect() == Data("hello".utf8))
    }

    @Test(arguments: [[:], ["X-One": "1"]] as [HTTPHeaders], ["POST", "PUT"])
    func `it counts too when only the end of the body, or what stands behind it, could not be sent`(
        trailers: HTTPHeaders,
        method: HTTPMethod
    ) async throws {
        let gate = Gate()
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        let options = ServerOptions().with {
            $0.onHead = { _ in .answer(.script([.send(text), .wait(gate), .reset])) }
        }
        let server = try TestServer(options: options) { _ in .text("") }
        let (pieces, source) = AsyncStream<Data>.makeStream()
        let body: HTTPBody = trailers.isEmpty ? .stream(pieces) : .stream(pieces) { trailers }
        let request = HTTPRequest(method, url: try #require(URL(string: server.url())), body: body)
        source.yield(Data("begin".utf8))
        let response = try await CurlTransport().send(request, context: TransportContext())
        #expect(response.head.status == 200)
        gate.open()
        #expect(await server.until { $0.openConnections == 0 })
        source.finish()
        #expect(try await response.body.collect() == Data("hello".utf8))
        #expect(server.counters.connections == 1)
    }

    @Test func `a source that is faster than its server is held back`() async throws {
        let gate = Gate()
        let options = ServerOptions().with {
            $0.recordsRequests = false
            $0.onHead = { _ in .readBodyAfter(gate) }
        }
        let server = try TestServer(options: options) { .text("\($0.bodyLength)") }
        let (piece, size) = (64 << 10, 64 << 20)
        let drawn = Guarded(0)
        let pieces = AsyncStream<Data> {
            let count = drawn.withLock { drawn in
                drawn += piece
                return drawn
            }
            return count > size ? nil : Data(count: piece)
        }
        let url = server.url()
        let call = Task { try await CurlTransport().fetch(.put, url, body: .stream(pieces)) }
        await gate.reached()
        // As long as a wait gets without a clock: the amount is the same over many turns of other work.
        var (last, equal) = (-1, 0)
        while equal < 200 {
            let now = drawn.withLock { $0 }
            equal = now == last ? equal + 1 : 0
            last = now
            for _ in 0..<(isSanitized ? 300 : 1_000) { await Task.yield() }
        }
        // The channel and libcurl hold a megabyte, the sockets of both sides some more (tcp_wmem, tcp_rmem).
        #expect(last < 32 << 20)
        gate.open()
        #expect(try await call.value.body == Data("\(size)".utf8))
    }

    @Test func `a cancelled upload ends its source`() async throws {
        let server = try server()
        let (pieces, source) = AsyncStream<Data>.makeStream()
        let (ended, end) = AsyncStream<Void>.makeStream()
        source.onTermination = { _ in end.finish() }
        source.yield(Data("begin".utf8))
        let transport = CurlTransport()
        let url = server.url()
        let call = Task { try await transport.fetch(.post, url, body: .stream(pieces)) }
        #expect(await server.until { $0.requests == 1 })
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        for await _ in ended {}
    }
}
