import TestServer
import Testing

@testable import NetManager

/// The content of a response as lines.
@Suite struct LinesTests {
    private func lines(_ pieces: [Data], limit: Int = 100) throws -> [String] {
        var splitter = LineSplitter(limit: limit)
        var lines: [String] = []
        for piece in pieces { try splitter.push(piece) { lines.append(String(decoding: $0, as: UTF8.self)) } }
        if let rest = splitter.finish() { lines.append(String(decoding: rest, as: UTF8.self)) }
        return lines
    }

    @Test(arguments: [
        ("a\nb\n", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]), ("a\rb\r", ["a", "b"]),
        ("a\n\nb", ["a", "", "b"]),
        ("a\r\n\r\nb", ["a", "", "b"]), ("a\n\r\nb", ["a", "", "b"]), ("", []), ("\n", [""]), ("a", ["a"]),
        ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"]), ("ä€\n😀", ["ä€", "😀"]),
    ])
    func `lines are the same wherever they are cut`(text: String, expected: [String]) throws {
        let bytes = Data(text.utf8)
        for cut in 0...bytes.count {
            #expect(try lines([bytes[..<cut], bytes[cut...]]) == expected)
        }
        #expect(try lines(bytes.map { Data([$0]) }) == expected)
    }

    @Test func `a line over the limit ends the call as too large`() async throws {
        let server = try TestServer { _ in .bytes(100_000) }
        let manager = HTTPSessionManager(CurlTransport())
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        let error = await requestError {
            try await manager.stream(request) { for try await _ in $0.body.lines(limit: 50_000) {} }
        }
        #expect(error?.label == "body_too_large")
    }

    @Test func `lines arrive while the content is still coming`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in
            .script([.send("HTTP/1.1 200 OK\r\n\r\none\ntwo\nthr"), .wait(gate), .send("ee"), .close])
        }
        let manager = HTTPSessionManager(CurlTransport())
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        let found = try await manager.stream(request) { response in
            var lines = response.body.lines.makeAsyncIterator()
            var found = [try await lines.next(), try await lines.next()]
            gate.open()
            found += [try await lines.next(), try await lines.next()]
            return found
        }
        #expect(found == ["one", "two", "three", nil])
    }
}
