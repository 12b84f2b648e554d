import FoundationEssentials
import HTTPMessage
import Synchronization
import TestPKI
import TestServer
import Testing

@testable import NetManager

@Suite struct BodyStreamTests {
    private func open(_ server: TestServer, _ transport: CurlTransport) async throws -> StreamedResponse {
        let url = try #require(URL(string: server.url()))
        return try await transport.send(HTTPRequest(url: url), context: TransportContext())
    }

    @Test func `the head comes before the body`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("late").holdingBody(until: gate) }
        let response = try await open(server, CurlTransport())
        #expect(response.head.status == 200)
        gate.open()
        #expect(String(decoding: try await response.body.collect(), as: UTF8.self) == "late")
    }

    @Test func `a large body arrives whole and in order`() async throws {
        let server = try TestServer { _ in .bytes(20_000_000) }
        let response = try await open(server, CurlTransport())
        var count = 0
        var isRight = true
        for try await piece in response.body {
            isRight = isRight && piece.first == UInt8(97 + count % 26)
            count += piece.count
        }
        #expect(count == 20_000_000)
        #expect(isRight)
    }

    @Test func `a reader that does not read holds the sender back`() async throws {
        let server = try TestServer { _ in .bytes(200_000_000) }
        let response = try await open(server, CurlTransport())
        var iterator = response.body.makeAsyncIterator()
        _ = try await iterator.next()
        // What the server could send without a reader: the channel, libcurl's buffer and the kernel's.
        #expect(await server.sentBytesAtRest() < 20_000_000)
        var rest = 0
        while let piece = try await iterator.next() { rest += piece.count }
        #expect(rest > 199_000_000)
    }

    @Test(arguments: [false, true])
    func `a reader that sleeps holds at most the watermark, with what libcurl has in hand`(isSecure: Bool)
        async throws
    {
        let tls = try isSecure ? TLSOptions(identity: .selfSigned(PinnedServer.certificateOptions)) : nil
        let server = try TestServer(tls: tls) { _ in Fault.endlessBody.answer }
        for piecesRead in 0..<4 {
            let recorder = MetricsRecorder()
            var context = TransportContext(policy: PinnedServer.lenient)
            context.metrics = recorder
            let url = try #require(URL(string: server.url()))
            let response = try await CurlTransport().send(HTTPRequest(url: url), context: context)
            var iterator = response.body.makeAsyncIterator()
            var read = 0
            for _ in 0..<piecesRead { read += try await iterator.next()?.count ?? 0 }
            _ = await server.sentBytesAtRest()
            if case .channel(let reader) = response.body.storage { reader.abandon() }
            while recorder.metrics.isEmpty { await Task.yield() }
            let taken = try Int(#require(recorder.metrics.last).bodyBytesReceived)
            #expect(taken > read && taken - read <= BodyChannel.watermark)
        }
    }

    @Test func `a connection carries on after bodies of any size, read fast or slowly`()
        async throws
    {
        let server = try TestServer { request in
            let size = Int(request.path.dropFirst()) ?? 0
            return size % 2 == 0 ? .bytes(size) : .bytes(size).chunked(40_000)
        }
        let transport = CurlTransport()
        for size in stride(from: 1, to: 1_200_000, by: 14_321) {
            let url = try #require(URL(string: server.url("/\(size)")))
            var context = TransportContext()
            context.timeouts.idle = .seconds(20)
            let response = try await transport.send(HTTPRequest(url: url), context: context)
            var count = 0
            for try await piece in response.body {
                count += piece.count
                if size % 3 == 0 { for _ in 0..<20 { await Task.yield() } }
            }
            #expect(count == size)
        }
        #expect(server.counters.connections == 1)
    }

    @Test func `a body that is dropped ends the transfer`() async throws {
        let server = try TestServer { _ in Fault.endlessBody.answer }
        let transport = CurlTransport()
        do {
            let response = try await open(server, transport)
            #expect(response.head.status == 200)
        }
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func `a body that is half read and dropped ends the transfer`() async throws {
        let server = try TestServer { _ in Fault.endlessBody.answer }
        let transport = CurlTransport()
        do {
            let response = try await open(server, transport)
            for try await _ in response.body { break }
        }
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test func `a cancelled reader ends the transfer`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in Fault.slowBody(gate).answer }
        let transport = CurlTransport()
        let url = try #require(URL(string: server.url()))
        let (started, start) = AsyncStream<Void>.makeStream()
        let reader = Task {
            let response = try await transport.send(HTTPRequest(url: url), context: TransportContext())
            for try await _ in response.body { start.finish() }
        }
        for await _ in started {}
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(await server.until { $0.openConnections == 0 })
        gate.open()
    }

    @Test func `a transport that nobody holds lives until the body is read`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("late").holdingBody(until: gate) }
        let response = try await open(server, CurlTransport())
        gate.open()
        #expect(try await response.body.collect().count == 4)
    }

    @Test func `an error in the middle comes after what arrived`() async throws {
        let server = try TestServer { _ in Fault.truncatedBody(declaring: 100, sending: 10).answer }
        let response = try await open(server, CurlTransport())
        var received = 0
        let error = try await failure {
            for try await piece in response.body { received += piece.count }
        }
        #expect(received == 10)
        guard case .connectionLost = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `collecting stops at its limit`() async throws {
        let server = try TestServer { _ in Fault.endlessBody.answer }
        let response = try await open(server, CurlTransport())
        await #expect(throws: (any Error).self) { try await response.body.collect(upTo: 50_000) }
        #expect(await server.until { $0.openConnections == 0 })
    }
}
