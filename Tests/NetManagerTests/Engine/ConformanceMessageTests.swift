import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// The named cases of the proposal for a Swift HTTP API: messages.
///
/// ConformanceExchangeTests has the others, docs/conformance.md the list.
@Suite struct ConformanceMessageTests {
    private let transport = CurlTransport()

    private func serve(_ answer: Answer) throws -> TestServer {
        try TestServer { _ in answer }
    }

    private func text(of answer: Answer) async throws -> String {
        let server = try serve(answer)
        return String(decoding: try await transport.fetch(server.url()).body, as: UTF8.self)
    }

    /// What the echo answers, in a coding.
    private func echo(_ coding: String) async throws -> String {
        let server = try TestServer(handler: Echo.answer)
        let response = try await transport.fetch(server.url("/\(coding)"))
        #expect(response.head.headers["Content-Encoding"] == coding)
        return String(decoding: response.body, as: UTF8.self)
    }

    private func isProtocolError(_ answer: Answer) async throws -> Bool {
        let server = try serve(answer)
        let error = await requestError { _ = try await transport.fetch(server.url()) }
        return error?.label == "protocol_error"
    }

    @Test func `conformance NotHTTP: what is no HTTP is an error`() async throws {
        #expect(try await isProtocolError(.raw("FOOBAR 200 OK\r\n\r\nhello")))
    }

    @Test func `conformance BadHTTPCase: the protocol's name has one spelling`() async throws {
        let server = try serve(.raw("Http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
        #expect(await requestError { _ = try await transport.fetch(server.url()) } != nil)
    }

    @Test func `conformance NoReason: a status needs no reason`() async throws {
        #expect(try await text(of: .raw("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello")) == "hello")
    }

    @Test(arguments: [204, 304])
    func `conformance 204WithContentLength and 304WithContentLength: such a response has no content`(
        status: Int
    ) async throws {
        let server = try TestServer {
            $0.indexOnConnection == 0
                ? .script([.send("HTTP/1.1 \(status) X\r\nContent-Length: 1000\r\n\r\n")]) : .text("next")
        }
        let response = try await transport.fetch(server.url())
        #expect(response.head.status == status)
        #expect(response.body.isEmpty)
        // Nobody waits for the thousand bytes, and none of the next response are taken for them.
        #expect(String(decoding: try await transport.fetch(server.url()).body, as: UTF8.self) == "next")
    }

    @Test func `conformance IncompleteBody: a body that ends early is an error`() async throws {
        let server = try serve(Fault.truncatedBody(declaring: 1000, sending: 10).answer)
        let error = await requestError { _ = try await transport.fetch(server.url()) }
        #expect(error?.label == "connection_lost")
    }

    @Test func `conformance NoLengthHint: without a length the content ends with the connection`()
        async throws
    {
        #expect(try await text(of: .raw("HTTP/1.1 200 OK\r\n\r\n1234")) == "1234")
    }

    @Test func `conformance ConflictingContentLength: two lengths are an error`() async throws {
        #expect(
            try await isProtocolError(
                .raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n12345")
            )
        )
    }

    @Test func `conformance Ok: a response without content`() async throws {
        let server = try serve(.status(200))
        let response = try await transport.fetch(server.url())
        #expect(response.head.status == 200)
        #expect(response.body.isEmpty)
    }

    @Test func `conformance Gzip: a content is decoded`() async throws {
        #expect(try await echo("gzip").contains("/gzip"))
    }

    @Test func `conformance Deflate: a content is decoded`() async throws {
        #expect(try await echo("deflate").contains("/deflate"))
    }

    @Test func `conformance Brotli: a content is decoded`() async throws {
        // One meta-block of bytes as they are (RFC 7932, section 9.2).
        let bytes = Data([0x0B, 0x02, 0x80] + Array("hello".utf8) + [0x03])
        #expect(try await text(of: .encoded("br", bytes)) == "hello")
    }

    @Test func `conformance Identity: a content without a coding is as it is`() async throws {
        #expect(try await text(of: .encoded("identity", Data("plain".utf8))) == "plain")
    }

    @Test func `conformance CustomHeader: a field of the caller's reaches the server`() async throws {
        let server = try TestServer { .text($0.headers["X-Own"] ?? "none") }
        let response = try await transport.fetch(server.url(), headers: ["X-Own": "a value"])
        #expect(String(decoding: response.body, as: UTF8.self) == "a value")
    }

    @Test func `conformance NotFound: a status of failure is a response`() async throws {
        let server = try serve(.text("nothing here", status: 404))
        let response = try await transport.fetch(server.url())
        #expect(response.head.status == 404)
        #expect(String(decoding: response.body, as: UTF8.self) == "nothing here")
    }

    @Test func `conformance StatusOutOfRangeButValid: a status of another hundred is a response`()
        async throws
    {
        let server = try serve(.raw("HTTP/1.1 999 Far Out\r\nContent-Length: 2\r\n\r\nhi"))
        #expect(try await transport.fetch(server.url()).head.status == 999)
    }

    @Test func `conformance ClientSendsEmptyHeaderValue: a field without a value reaches the server`()
        async throws
    {
        let server = try TestServer { .text($0.headers["X-Empty"].map { "<\($0)>" } ?? "none") }
        let response = try await transport.fetch(server.url(), headers: ["X-Empty": ""])
        #expect(String(decoding: response.body, as: UTF8.self) == "<>")
    }

    @Test func `conformance HeadWithContentLength: a length of HEAD announces nothing to wait for`()
        async throws
    {
        let server = try serve(.bytes(1_000_000))
        let response = try await transport.fetch(.head, server.url())
        #expect(response.head.headers["Content-Length"] == "1000000")
        #expect(response.body.isEmpty)
    }

    @Test func `conformance ServerSendsMultiValueHeader: every value is there, in order`() async throws {
        let server = try serve(.text("").header("X-Many", "one").header("x-many", "two, three"))
        let headers = try await transport.fetch(server.url()).head.headers
        #expect(headers[values: "X-Many"] == ["one", "two, three"])
    }

    @Test func `conformance ClientSendsMultiValueHeader: every value is sent, in order`() async throws {
        let server = try TestServer { .text($0.headers[values: "X-Many"].joined(separator: "|")) }
        var headers = HTTPHeaders()
        headers.add("one", for: "X-Many")
        headers.add("two, three", for: "X-Many")
        let response = try await transport.fetch(server.url(), headers: headers)
        #expect(String(decoding: response.body, as: UTF8.self) == "one|two, three")
    }

    @Test func `conformance EmptyChunkedBody: no chunks are no content`() async throws {
        #expect(try await text(of: .text("").chunked()) == "")
    }

    @Test func `conformance URLParams: the query reaches the server as it is`() async throws {
        let server = try TestServer { .text($0.target) }
        let response = try await transport.fetch(server.url("/path?foo=bar&b=%20&empty="))
        #expect(String(decoding: response.body, as: UTF8.self) == "/path?foo=bar&b=%20&empty=")
    }

    @Test func `conformance ETag: a tag is asked for, and 304 brings no content`() async throws {
        let server = try TestServer { request in
            request.headers["If-None-Match"] == "\"v1\""
                ? Answer.status(304).header("ETag", "\"v1\"")
                : Answer.text("content").header("ETag", "\"v1\"")
        }
        let first = try await transport.fetch(server.url())
        let tag = try #require(first.head.headers["ETag"])
        let second = try await transport.fetch(server.url(), headers: ["If-None-Match": tag])
        #expect(second.head.status == 304)
        #expect(second.body.isEmpty)
    }
}
