import COpenSSL
import FoundationEssentials
import Glibc
import HTTPMessage
import TestPKI
import TestServer
import Testing

struct TestServerTests {
    @Test func `requests on one connection are answered, recorded and counted`() async throws {
        let server = try TestServer { .text("you asked for \($0.path)") }
        let client = try TestClient(server)
        client.send("POST /a?b=c HTTP/1.1\r\nX-One: 1\r\nx-one: 2\r\nContent-Length: 3\r\n\r\nabc")
        #expect(client.read(until: "/a").hasPrefix("HTTP/1.1 200 ok\r\n"))
        client.send(
            "PUT /chunks HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\nX-T: t\r\n\r\n"
        )
        #expect(client.read(until: "/chunks").contains("Content-Length: 21"))
        let requests = server.requests
        try #require(requests.count == 2)
        #expect(requests[0].method == "POST" && requests[0].target == "/a?b=c" && requests[0].query == "b=c")
        #expect(requests[0].headers[values: "X-One"] == ["1", "2"])
        #expect(requests[0].text == "abc" && requests[1].text == "abc")
        #expect(requests[1].trailers["X-T"] == "t" && requests[1].indexOnConnection == 1)
        #expect(server.counters.connections == 1 && server.counters.requests == 2)
        #expect(
            server.counters.requestBytes == requests[0].rawHead.count + 3 + requests[1].rawHead.count + 28
        )
    }

    @Test func `what the server accepts is closed in programs that are started`() async throws {
        let server = try TestServer { _ in .text("hello") }
        let client = try TestClient(server)
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.read(until: "hello").hasPrefix("HTTP/1.1 200"))
        let ends = client.otherEnds
        #expect(ends.count == 1)
        #expect(ends.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
    }

    @Test(arguments: [TLSVersion.tls12, .tls13], [TLSOptions.Resumption.tickets, .sessionCache, .refused])
    func `handshakes and resumptions are counted`(
        version: TLSVersion,
        resumption: TLSOptions.Resumption
    ) async throws {
        let root = try Authority()
        let identity = try root.intermediate().issue(.server("localhost"))
        let tls = TLSOptions(identity: identity, maximum: version).with { $0.resumption = resumption }
        let server = try TestServer(tls: tls) { _ in .text("hello").closing() }
        var wish = TestClient.Wish(anchor: root.certificate)
        let first = try TestClient(server)
        try #require(first.startTLS(wish))
        #expect(first.get().hasSuffix("hello"))
        wish.session = first.session()
        defer { SSL_SESSION_free(wish.session) }
        let second = try TestClient(server)
        try #require(second.startTLS(wish))
        #expect(second.get().hasSuffix("hello"))
        #expect(server.counters.handshakes == 2 && server.counters.failedHandshakes == 0)
        #expect(server.counters.resumptions == (resumption == .refused ? 0 : 1))
        let record = try #require(server.connections.last?.tls)
        #expect(record.version == version && record.serverName == "localhost")
        #expect(record.applicationProtocol == "http/1.1")
    }

    @Test func `a client that does not trust the server is a failed handshake and sends no byte`()
        async throws
    {
        let server = try TestServer(tls: TLSOptions(identity: Authority().issue(.server("localhost")))) { _ in
            .text("never")
        }
        let client = try TestClient(server)
        #expect(!client.startTLS(.init(anchor: try Authority().certificate)))
        #expect(await server.until { $0.failedHandshakes == 1 })
        #expect(server.counters.requestBytes == 0 && server.counters.handshakes == 0)
        #expect(server.connections.first?.failedServerName == "localhost")
    }

    @Test func `client certificates are asked for, verified and recorded`() async throws {
        let root = try Authority()
        let tls = TLSOptions(identity: try root.issue(.server("localhost")), maximum: .tls12).with {
            $0.clientCertificates = .required(anchors: [root.certificate])
        }
        let server = try TestServer(tls: tls) { _ in .text("hello").closing() }
        let shy = try TestClient(server)
        #expect(!shy.startTLS(.init(anchor: root.certificate)))
        let client = try root.issue(.client(commonName: "me"))
        let known = try TestClient(server)
        #expect(known.startTLS(.init(anchor: root.certificate, client: client)))
        #expect(known.get().hasSuffix("hello"))
        #expect(server.connections.last?.tls?.clientCertificate == client.certificateDER)
    }

    @Test func `an OCSP response is stapled and another identity presented`() async throws {
        let root = try Authority()
        let identity = try root.issue(.server("localhost"))
        let response = try root.ocspResponse(for: identity.certificate)
        let server = try TestServer(
            tls: TLSOptions(identity: identity).with { $0.stapledOCSPResponse = response }
        ) { _ in .text("hello") }
        let client = try TestClient(server)
        #expect(client.startTLS(.init(anchor: root.certificate, asksForOCSP: true)))
        #expect(client.stapled() == response)
        let other = try Authority()
        try server.present(other.issue(.server("localhost")))
        #expect(try TestClient(server).startTLS(.init(anchor: other.certificate)))
        #expect(try !TestClient(server).startTLS(.init(anchor: root.certificate)))
    }

    @Test func `a gate holds an answer back until it opens`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("late").holdingBody(until: gate) }
        let client = try TestClient(server)
        #expect(client.get(until: "\r\n\r\n").hasSuffix("\r\n\r\n"))
        await gate.reached()
        gate.open()
        #expect(client.read(until: "late") == "late")
    }

    @Test func `chunks, trailers, HEAD and repeated bodies are framed right`() async throws {
        let server = try TestServer { request in
            switch request.path {
            case "/chunks": .text("hello").chunked(2, trailers: ["X-T": "t"])
            default: .bytes(100_000)
            }
        }
        let client = try TestClient(server)
        #expect(
            client.get("/chunks", until: "X-T: t\r\n\r\n").contains("2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n0\r\n")
        )
        client.send("HEAD / HTTP/1.1\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").contains("Content-Length: 100000"))
        client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        let text = client.read()
        #expect(text.contains("Connection: close"))
        #expect(
            text.utf8.count - (text.firstRange(of: "\r\n\r\n")?.upperBound.utf16Offset(in: text) ?? 0)
                == 100_000
        )
    }

    @Test func `an expectation is met or refused before the body`() async throws {
        let options = ServerOptions().with {
            $0.onHead = { $0.path == "/no" ? .answer(.status(417)) : .readBody }
        }
        let server = try TestServer(options: options) { .text("got \($0.text)") }
        let client = try TestClient(server)
        client.send("POST /yes HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 Continue"))
        client.send("abc")
        #expect(client.read(until: "abc").hasSuffix("got abc"))
        client.send("POST /no HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        #expect(client.read().hasPrefix("HTTP/1.1 417"))
        #expect(server.requests.last?.bodyLength == 0)
    }

    @Test func `a failing handler and a bad request are answered, and the server lives on`() async throws {
        let server = try TestServer { request in
            guard request.path != "/fail" else { throw Wrong() }
            return .text("fine")
        }
        let client = try TestClient(server)
        #expect(client.get("/fail", until: "failed").hasPrefix("HTTP/1.1 500"))
        client.send("nonsense\r\n\r\n")
        #expect(client.read().hasPrefix("HTTP/1.1 400"))
        #expect(try TestClient(server).get(until: "fine").hasPrefix("HTTP/1.1 200"))
    }

    @Test(arguments: [Step.close, .reset]) func `a reused connection dies on request`(end: Step) async throws
    {
        let server = try TestServer(handler: Fault.onReuse([end]))
        let client = try TestClient(server)
        #expect(client.get(until: "first").hasSuffix("first"))
        #expect(client.get() == "")
        #expect(server.requests.map(\.indexOnConnection) == [0, 1])
    }

    @Test(arguments: Fault.unusable + Fault.usable)
    func `every fault is sent and ends its connection`(fault: Fault) async throws {
        let server = try TestServer { _ in fault.answer.closing() }
        let client = try TestClient(server)
        client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        let text = client.read()
        let isUsable = Fault.usable.contains { $0.description == fault.description }
        #expect(!isUsable || text.contains("o"))
        #expect(await server.until { $0.openConnections == 0 && $0.requests == 1 })
    }

    @Test func `connections are refused as the hook says`() async throws {
        let options = ServerOptions().with {
            $0.onConnect = { [.reset, .close, .sendThenClose(tlsAlert: 40), .proceed][min($0, 3)] }
        }
        let root = try Authority()
        let server = try TestServer(
            tls: TLSOptions(identity: root.issue(.server("localhost"))),
            options: options
        ) { _ in .text("hello") }
        let results = try (0..<4).map { _ in try TestClient(server).startTLS(.init(anchor: root.certificate))
        }
        #expect(results == [false, false, false, true])
    }

    @Test func `a server that stops ends what waits, stalls and floods`() async throws {
        let server = try floodedServer()
        let clients = try (0..<40).map { _ in try TestClient(server) }
        for (client, target) in zip(clients, ["/gate", "/stall", "/flood", "/"]) {
            client.send("GET \(target) HTTP/1.1\r\n\r\n")
        }
        #expect(await server.until { $0.requests == 4 && $0.connections == 40 })
        server.stop()
        #expect(server.counters.openConnections == 0)
    }

    @Test func `a thousand connections are served at the same time`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("hello").after(gate) }
        let clients = try (0..<1_000).map { _ in try TestClient(server) }
        for client in clients { client.send("GET / HTTP/1.1\r\n\r\n") }
        await gate.reached(times: 1_000)
        #expect(server.counters.openConnections == 1_000)
        gate.open()
        #expect(clients.allSatisfy { $0.read(until: "hello").hasSuffix("hello") })
    }

    @Test func `a server leaves no descriptor behind`() async throws {
        // A process of its own: other tests open and close descriptors at the same time.
        await #expect(processExitsWith: .success) {
            // The first round opens what libraries keep.
            try serveOnce()
            let before = openDescriptors()
            for _ in 0..<10 { try serveOnce() }
            try #require(openDescriptors() == before)
        }
    }
}

private func floodedServer() throws -> TestServer {
    let gate = Gate()
    return try TestServer { request in
        switch request.path {
        case "/gate": .text("never").after(gate)
        case "/stall": Fault.silence.answer
        case "/flood": Fault.endlessBody.answer
        default: .text("hello")
        }
    }
}

private func serveOnce() throws {
    let server = try floodedServer()
    let clients = try (0..<10).map { _ in try TestClient(server) }
    for client in clients { try #require(client.get(until: "hello").hasSuffix("hello")) }
    for client in clients { client.send("GET /gate HTTP/1.1\r\n\r\n") }
}

private struct Wrong: Error {}

private func openDescriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
}
