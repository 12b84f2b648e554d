import FoundationEssentials
import HTTPMessage
import NetManager
import TestServer
import Testing

/// Whatever a server does, a request has one outcome, and a request that must not be repeated is not.
@Suite struct FaultTests {
    @Test(arguments: Fault.unusable)
    func `report 67: a response that is none is an error`(fault: Fault) async throws {
        let server = try TestServer { _ in fault.answer }
        let error = try await failure { _ = try await CurlTransport().fetch(server.url()) }
        switch error.kind {
        case .protocolError, .connectionLost: break
        default: Issue.record("\(fault): \(error)")
        }
    }

    @Test(arguments: Fault.unusable)
    func `a response that is none is an error to a reader of the stream too`(fault: Fault) async throws {
        let server = try TestServer { _ in fault.answer }
        let url = try #require(URL(string: server.url()))
        let error = try await failure {
            let response = try await CurlTransport().send(HTTPRequest(url: url), context: TransportContext())
            _ = try await response.body.collect()
        }
        switch error.kind {
        case .protocolError, .connectionLost: break
        default: Issue.record("\(fault): \(error)")
        }
    }

    @Test(arguments: Fault.usable)
    func `an odd response that has one reading is read`(fault: Fault) async throws {
        let server = try TestServer { _ in fault.answer }
        let response = try await CurlTransport().fetch(server.url())
        #expect(response.head.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self) == "hello")
    }

    @Test func `case 530: a body that ends too early is no success`() async throws {
        let server = try TestServer { _ in Fault.truncatedBody(declaring: 100, sending: 10).answer }
        let error = try await failure { _ = try await CurlTransport().fetch(server.url()) }
        guard case .connectionLost = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(arguments: [Fault.endlessHead, Fault.interimFlood(.max)])
    func `a head without end is ended by the client`(fault: Fault) async throws {
        let server = try TestServer { _ in fault.answer }
        let error = try await failure { _ = try await CurlTransport().fetch(server.url()) }
        guard case .protocolError = error.kind else {
            Issue.record("\(fault): \(error)")
            return
        }
        #expect(server.counters.sentBytes < 8 << 20)
    }

    @Test func `a body over the limit is an error and is not read on`() async throws {
        let server = try TestServer { _ in Fault.endlessBody.answer }
        let url = try #require(URL(string: server.url()))
        let error = try await failure {
            var context = TransportContext()
            context.delivery = .buffered(limit: 100_000)
            _ = try await CurlTransport().send(HTTPRequest(url: url), context: context)
        }
        guard case .bodyTooLarge = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(await server.until { $0.openConnections == 0 })
    }

    @Test(arguments: [1, 16 << 10, 100_000])
    func
        `content of exactly the limit is taken, and one byte more is not, with and without a declared length`(
            limit: Int
        ) async throws
    {
        let server = try TestServer { request in
            let count = request.path.hasSuffix("more") ? limit + 1 : limit
            let answer = Answer.data(Data(count: count), type: "text/plain")
            return request.path.hasPrefix("/chunked") ? answer.chunked(1000) : answer
        }
        let transport = CurlTransport()
        for path in ["/sized", "/chunked"] {
            func get(_ path: String) async throws -> Int {
                var context = TransportContext(deadline: .now + .seconds(300))
                context.delivery = .buffered(limit: limit)
                let url = try #require(URL(string: server.url(path)))
                return try await transport.send(HTTPRequest(url: url), context: context).body.collect().count
            }
            #expect(try await get(path) == limit)
            let error = try await failure { _ = try await get(path + "/more") }
            guard case .bodyTooLarge = error.kind else { throw Unexpected(what: "\(error)") }
        }
    }

    @Test func `a response that nobody asked for is nobody's answer`() async throws {
        let server = try TestServer { request in
            request.path == "/first" ? Fault.unsolicitedResponse.answer : .text("right")
        }
        let transport = CurlTransport()
        _ = try await transport.fetch(server.url("/first"))
        let second = try await transport.fetch(server.url("/second"))
        #expect(String(decoding: second.body, as: UTF8.self) == "right")
    }

    @Test(arguments: [[Step.close], [.reset]], [HTTPMethod.post, .patch])
    func `a POST is sent once when a reused connection dies`(steps: [Step], method: HTTPMethod) async throws {
        let server = try TestServer(handler: Fault.onReuse(steps))
        let transport = CurlTransport()
        _ = try await transport.fetch(.get, server.url())
        let error = try await failure {
            _ = try await transport.fetch(method, server.url("/pay"), body: .data(Data("x".utf8)))
        }
        guard case .outcomeUnknown = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(server.requests.filter { $0.path == "/pay" }.count == 1)
    }

    @Test(arguments: [[Step.close], [.reset]])
    func `report 61: a GET is sent again when a reused connection dies`(steps: [Step]) async throws {
        let server = try TestServer(handler: Fault.onReuse(steps))
        let transport = CurlTransport()
        for _ in 0..<3 { _ = try await transport.fetch(server.url()) }
    }

    @Test func `a POST whose connection breaks has an unknown outcome`() async throws {
        let server = try TestServer { _ in .script([.close]) }
        let error = try await failure { _ = try await CurlTransport().fetch(.post, server.url()) }
        guard case .outcomeUnknown = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(server.counters.requests == 1)
    }

    @Test func `case 529: a refused connection is told as such`() async throws {
        let server = try TestServer { _ in .text("") }
        let url = server.url()
        server.stop()
        let error = try await failure { _ = try await CurlTransport().fetch(url) }
        guard case .cannotConnect = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `a server that closes during the handshake is no untrusted one`() async throws {
        let options = ServerOptions().with { $0.onConnect = { _ in .sendThenClose(tlsAlert: 40) } }
        let server = try TestServer(options: options) { _ in .text("") }
        let error = try await failure {
            _ = try await CurlTransport().fetch("https://localhost:\(server.port)/")
        }
        guard case .tlsFailed = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `204 with a body leaves the connection clean`() async throws {
        let server = try TestServer { request in
            request.path == "/204" ? Fault.bodyOfNoContent().answer : .text("right")
        }
        let transport = CurlTransport()
        let first = try await transport.fetch(server.url("/204"))
        #expect(first.body.isEmpty)
        let second = try await transport.fetch(server.url("/next"))
        #expect(String(decoding: second.body, as: UTF8.self) == "right")
    }
}
