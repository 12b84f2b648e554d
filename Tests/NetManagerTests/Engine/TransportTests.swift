import FoundationEssentials
import HTTPMessage
import Locks
import NetManager
import TestServer
import Testing

@Suite struct TransportTests {
    private func echo() throws -> TestServer {
        try TestServer { request in
            var answer = Answer.text(
                "\(request.method) \(request.target) \(request.bodyLength) \(request.text)"
            )
            answer.headers["X-Framing"] =
                (request.headers["Content-Length"] ?? "-") + " "
                + (request.headers["Transfer-Encoding"] ?? "-")
            answer.headers["X-Type"] = request.headers["Content-Type"] ?? "-"
            answer.headers["X-Expect"] = request.headers["Expect"] ?? "-"
            return answer
        }
    }

    @Test(arguments: [HTTPMethod.get, .delete, .options, .put, .patch, .post, "PROPFIND"])
    func `every method reaches the server`(method: HTTPMethod) async throws {
        let server = try echo()
        let response = try await CurlTransport().fetch(method, server.url("/a?b=c"))
        #expect(response.head.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self) == "\(method) /a?b=c 0 ")
    }

    @Test func `HEAD has a head and no body`() async throws {
        let server = try echo()
        let response = try await CurlTransport().fetch(.head, server.url())
        #expect(response.head.status == 200)
        #expect(response.body.isEmpty)
        #expect(response.head.headers.contains("Content-Length"))
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch])
    func `a method that has a body says its length even when there is none`(method: HTTPMethod) async throws {
        let server = try echo()
        let response = try await CurlTransport().fetch(method, server.url())
        #expect(response.head.headers["X-Framing"] == "0 -")
    }

    @Test(arguments: [HTTPMethod.get, .delete])
    func `a method without a body says no length`(method: HTTPMethod) async throws {
        let server = try echo()
        #expect(try await CurlTransport().fetch(method, server.url()).head.headers["X-Framing"] == "- -")
    }

    @Test(arguments: [1, 10, 65_536, 65_537, 3_000_000])
    func `report 23: bytes are sent with their length, whole and unchanged`(count: Int) async throws {
        let server = try echo()
        let body = Data((0..<count).map { UInt8(97 + $0 % 26) })
        let response = try await CurlTransport().fetch(.post, server.url("/"), body: .data(body))
        #expect(response.head.headers["X-Framing"] == "\(count) -")
        #expect(response.head.headers["X-Type"] == "-")
        #expect(response.head.headers["X-Expect"] == "-")
        #expect(server.requests.first?.body == body)
    }

    @Test func `report 23: a stream of unknown length is chunked`() async throws {
        let server = try echo()
        let pieces = AsyncStream<Data> { stream in
            for text in ["one ", "two ", "three"] { stream.yield(Data(text.utf8)) }
            stream.finish()
        }
        let response = try await CurlTransport().fetch(.post, server.url("/"), body: .stream(pieces))
        #expect(response.head.headers["X-Framing"] == "- chunked")
        #expect(String(decoding: response.body, as: UTF8.self) == "POST / 13 one two three")
    }

    @Test func `report 59: a GET may carry a body`() async throws {
        let server = try echo()
        let response = try await CurlTransport().fetch(.get, server.url("/"), body: .data(Data("abc".utf8)))
        #expect(String(decoding: response.body, as: UTF8.self) == "GET / 3 abc")
    }

    @Test func `requests of different shapes follow each other on one handle`() async throws {
        let server = try echo()
        let transport = CurlTransport()
        for _ in 0..<2 {
            for (method, body) in [
                (HTTPMethod.post, HTTPBody.data(Data("abc".utf8))), (.get, nil), (.head, nil), (.put, nil),
                (.delete, nil), (.post, nil), (.head, nil), (.get, nil),
            ] {
                let response = try await transport.fetch(method, server.url("/\(method)"), body: body)
                let expected = method == .head ? "" : "\(method) /\(method) \(body == nil ? "0 " : "3 abc")"
                #expect(String(decoding: response.body, as: UTF8.self) == expected)
            }
        }
        #expect(server.counters.connections == 1)
    }

    @Test func `header fields arrive in order, repeated and empty ones too`() async throws {
        let server = try echo()
        var headers: HTTPHeaders = ["X-A": "1", "X-Empty": ""]
        headers.add("2", for: "X-A")
        _ = try await CurlTransport().fetch(server.url(), headers: headers)
        let request = try #require(server.requests.first)
        #expect(request.headers[values: "X-A"] == ["1", "2"])
        #expect(request.headers["X-Empty"] == "")
    }

    @Test func `report 57: repeated response fields are kept apart`() async throws {
        let server = try TestServer { _ in
            var answer = Answer.text("")
            answer.headers.add("1", for: "X-A")
            answer.headers.add("2", for: "X-A")
            return answer
        }
        let response = try await CurlTransport().fetch(server.url())
        #expect(response.head.headers[values: "x-a"] == ["1", "2"])
    }

    @Test func `a connection is kept and used again`() async throws {
        let server = try echo()
        let transport = CurlTransport()
        for _ in 0..<20 { _ = try await transport.fetch(server.url()) }
        #expect(server.counters.connections == 1)
        #expect(server.counters.requests == 20)
    }

    @Test func `a thousand requests at once each end once, whatever the number of connections`() async throws
    {
        let server = try TestServer { request in .text(request.target) }
        let transport = CurlTransport()
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let response = try await transport.fetch(server.url("/\(number)"), timeout: .seconds(60))
                    return String(decoding: response.body, as: UTF8.self)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 1000)
        #expect(Set(answers).count == 1000)
        #expect(server.counters.requests == 1000)
    }

    @Test func `a transport that is shut down ends what runs and refuses what comes`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("").after(gate) }
        let transport = CurlTransport()
        async let first = failure { _ = try await transport.fetch(server.url()) }
        await gate.reached()
        transport.shutdown()
        for error in [try await first, try await failure { _ = try await transport.fetch(server.url()) }] {
            guard case .shutDown = error.kind else {
                Issue.record("\(error)")
                continue
            }
        }
        gate.open()
    }

    @Test func `progress is told both ways, up to the last byte`() async throws {
        let server = try TestServer { _ in .bytes(300_000) }
        let seen = Guarded<[TransferProgress]>([])
        let url = try #require(URL(string: server.url()))
        let body = HTTPBody.data(Data(count: 200_000))
        try await confirmation { confirmed in
            let (ended, end) = AsyncStream<Void>.makeStream()
            let context = TransportContext(progress: { progress in
                seen.withLock { $0.append(progress) }
                if progress == TransferProgress(direction: .download, completed: 300_000, total: 300_000) {
                    end.finish()
                }
            })
            let response = try await CurlTransport().send(
                HTTPRequest(.post, url: url, body: body),
                context: context
            )
            #expect(try await response.body.collect().count == 300_000)
            for await _ in ended {}
            confirmed()
        }
        let uploads = seen.withLock { $0.filter { $0.direction == .upload } }
        #expect(uploads.last?.completed == 200_000)
        #expect(uploads.last?.fraction == 1)
    }
}
