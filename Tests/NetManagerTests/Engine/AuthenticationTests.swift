import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

@Suite struct AuthenticationTests {
    /// A server that challenges for Digest and takes any answer with the right user.
    private func digestServer() throws -> TestServer {
        try TestServer { request in
            let answer = request.headers["Authorization"] ?? ""
            guard answer.hasPrefix("Digest "), answer.contains("username=\"user\"") else {
                return Answer.text("who?", status: 401)
                    .header(
                        "WWW-Authenticate",
                        "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
                    )
            }
            return .text("\(request.method) \(request.text)")
        }
    }

    private func send(
        _ server: TestServer,
        _ delivery: TransportContext.Delivery,
        _ authentication: Authentication?
    ) async throws -> HTTPResponse {
        var context = TransportContext(deadline: .now + .seconds(10))
        context.delivery = delivery
        context.authentication = authentication
        let url = try #require(URL(string: server.url()))
        let request = HTTPRequest(.post, url: url, body: .data(Data("pay".utf8)))
        let response = try await CurlTransport().send(request, context: context)
        return HTTPResponse(head: response.head, body: try await response.body.collect())
    }

    @Test(arguments: [TransportContext.Delivery.buffered(limit: 1000), .streamed])
    func `case 554: a digest challenge is answered within the call`(
        delivery: TransportContext.Delivery
    ) async throws {
        let server = try digestServer()
        let response = try await send(server, delivery, Authentication(user: "user", password: "password"))
        #expect(response.head.status == 200)
        #expect(String(decoding: response.body, as: UTF8.self) == "POST pay")
    }

    @Test(arguments: [TransportContext.Delivery.buffered(limit: 1000), .streamed])
    func `case 553: a digest challenge with the wrong user ends as 401`(
        delivery: TransportContext.Delivery
    ) async throws {
        let server = try digestServer()
        let response = try await send(server, delivery, Authentication(user: "other", password: "password"))
        #expect(response.head.status == 401)
        #expect(String(decoding: response.body, as: UTF8.self) == "who?")
    }

    @Test(arguments: [TransportContext.Delivery.buffered(limit: 1000), .streamed])
    func `a challenge is no answer to the request with credentials, which may have been executed`(
        delivery: TransportContext.Delivery
    ) async throws {
        let server = try TestServer { request in
            if request.headers.contains("Authorization") { return .script([.close]) }
            return Answer.status(401)
                .header("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
                .closing()
        }
        let error = try await failure {
            _ = try await send(server, delivery, Authentication(user: "user", password: "password"))
        }
        #expect(error.label == "outcome_unknown")
        #expect(error.response == nil)
        #expect(server.counters.requests == 2)
    }

    @Test func `without credentials a challenge is a response`() async throws {
        let server = try digestServer()
        let response = try await send(server, .streamed, nil)
        #expect(response.head.status == 401)
        #expect(server.counters.requests == 1)
    }

    @Test func `credentials do not stay with the handle`() async throws {
        let server = try TestServer { .text($0.headers["Authorization"] ?? "none") }
        let transport = CurlTransport()
        let url = try #require(URL(string: server.url()))
        var texts: [String] = []
        for authentication in [nil, Authentication(user: "a", password: "b", schemes: .basic), nil] {
            var context = TransportContext()
            context.authentication = authentication
            let response = try await transport.send(HTTPRequest(url: url), context: context)
            texts.append(String(decoding: try await response.body.collect(), as: UTF8.self))
        }
        #expect(texts == ["none", "Basic YTpi", "none"])
    }
}

@Suite struct DecodingTests {
    /// Zeros, deflated by hand: a stored block would not shrink, so these are fixed Huffman codes with the longest
    /// match over and over — 258 bytes in 13 bits.
    private static func bomb(matches: Int) -> Data {
        var bits: [Bool] = [true, true, false]  // the last block, fixed codes
        bits += [false, false, true, true, false, false, false, false]  // literal 0
        // Length 258 is code 285: 11000101; distance 1 is code 0: 00000.
        for _ in 0..<matches {
            bits += [true, true, false, false, false, true, false, true, false, false, false, false, false]
        }
        bits += [Bool](repeating: false, count: 7)  // end of block
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: bits.count, by: 8) {
            var byte: UInt8 = 0
            for bit in start..<min(start + 8, bits.count) where bits[bit] { byte |= 1 << (bit - start) }
            bytes.append(byte)
        }
        return Data(bytes)
    }

    @Test func `a body that decodes to far more than was received is refused`() async throws {
        let body = Self.bomb(matches: 50_000)
        let server = try TestServer { _ in .encoded("deflate", body) }
        var context = TransportContext()
        context.delivery = .buffered(limit: 64 << 20)
        context.maximumDecompressionRatio = 100
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        let transport = CurlTransport()
        let error = try await failure { _ = try await transport.send(request, context: context) }
        guard case .protocolError = error.kind else {
            Issue.record("\(error)")
            return
        }
        // The same body passes where the ratio is allowed, so it was the ratio that refused it.
        context.maximumDecompressionRatio = 1000
        #expect(try await transport.send(request, context: context).body.collect().count == 1 + 258 * 50_000)
    }

    @Test func `the limit of a body counts decoded bytes`() async throws {
        let body = Self.bomb(matches: 10_000)
        let server = try TestServer { _ in .encoded("deflate", body) }
        var context = TransportContext()
        context.delivery = .buffered(limit: 1_000_000)
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        let error = try await failure { _ = try await CurlTransport().send(request, context: context) }
        guard case .bodyTooLarge = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `a caller who names the codings gets the bytes as they are`() async throws {
        let body = Self.bomb(matches: 10)
        let server = try TestServer { _ in .encoded("deflate", body) }
        let raw = try await CurlTransport().fetch(server.url(), headers: ["Accept-Encoding": "deflate"])
        #expect(raw.body == body)
        let decoded = try await CurlTransport().fetch(server.url())
        #expect(decoded.body == Data(count: 1 + 258 * 10))
        #expect(server.requests.last?.headers["Accept-Encoding"]?.contains("gzip") == true)
    }
}
