import FoundationEssentials
import HTTPMessage
import NetManager
import TestServer
import Testing

/// Lines of a response that stand where they have no meaning.
@Suite struct MisplacedLinesTests {
    private static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test(arguments: [false, true])
    func `a line behind the content that reads like a status line makes no other response`(isStreamed: Bool)
        async throws
    {
        let lines = "HTTP/1.1 500 Oops: no\r\nX-One: 1\r\n\r\n"
        let server = try TestServer { _ in
            .script([.send(Self.head + "5\r\nhello\r\n0\r\n" + lines), .close])
        }
        var context = TransportContext(deadline: .now + .seconds(60))
        context.delivery = isStreamed ? .streamed : .buffered(limit: 1_000)
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        let response = try await CurlTransport().send(request, context: context)
        #expect(response.head.status == 200)
        #expect(try await response.body.collect() == Data("hello".utf8))
        #expect(response.body.trailers == ["X-One": "1"])
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nHTTP/1.1 500 Oops\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nHTTP/1.1 204 No Content\r\n\r\nhello",
        "HTTP/1.1 103 Early Hints\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    ])
    func `a second status line in one head makes the response none`(text: String) async throws {
        let server = try TestServer { _ in .raw(text) }
        let error = try await failure { _ = try await CurlTransport().fetch(server.url()) }
        #expect(error.label == "protocol_error")
    }
}
