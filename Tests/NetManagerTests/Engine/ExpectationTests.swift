import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// Requests that ask the server before they send their content (RFC 9110, section 10.1.1).
@Suite struct ExpectationTests {
    private func server() throws -> TestServer {
        let options = ServerOptions().with {
            $0.onHead = { request in
                guard request.headers.contains("Expect") else { return .readBody }
                // The connection stays open, or libcurl would not try again.
                return .answer(
                    .script([.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")])
                )
            }
        }
        return try TestServer(options: options) { .text("\($0.bodyLength)") }
    }

    /// libcurl sends such a request again by itself, and would bring a second answer to a call that has one.
    @Test(arguments: [HTTPMethod.post, .put], [10, 100_000])
    func `a stream has one answer, also when libcurl repeats its request`(method: HTTPMethod, size: Int)
        async throws
    {
        let server = try server()
        let url = try #require(URL(string: server.url()))
        let request = HTTPRequest(
            method,
            url: url,
            headers: ["Expect": "100-continue"],
            body: .data(Data(count: size))
        )
        let transport = CurlTransport()
        let response = try await transport.send(request, context: TransportContext())
        #expect(response.head.status == 417)
        // libcurl throws the content away, as it means to try again.
        #expect(try await response.body.collect().isEmpty)
        #expect(server.counters.requests == 1)
        // The transport is as good as before.
        #expect(try await transport.fetch(server.url()).head.status == 200)
    }

    @Test func `what is wanted whole has one answer too`() async throws {
        let server = try server()
        let headers: HTTPHeaders = ["Expect": "100-continue"]
        let response = try await CurlTransport().fetch(
            .put,
            server.url(),
            headers: headers,
            body: .data(Data(count: 10))
        )
        #expect(response.head.status == 417)
        #expect(response.body.isEmpty)
        #expect(server.counters.requests == 1)
    }
}
