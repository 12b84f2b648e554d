import FoundationEssentials
import HTTPMessage
import NetManager
import TestServer
import Testing

/// Bodies with several codings on top of each other, of which libcurl undoes each without counting what lies between.
@Suite struct StackedCodingsTests {
    /// Two codings for a content of nothing: what the outer one packs are empty blocks of the inner one's, so that not a
    /// byte comes out however many there are.
    private static func nothingness(blocks: Int) throws -> Data {
        // A gzip head (RFC 1952, section 2.3), then stored blocks without bytes (RFC 1951, section 3.2.4).
        var inner = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
        for _ in 0..<blocks { inner += [0, 0, 0, 0xFF, 0xFF] }
        return try compressed(inner)
    }

    @Test(arguments: [
        ["Content-Encoding: gzip, gzip"], ["Content-Encoding: gzip", "content-encoding: GZIP"],
        ["Transfer-Encoding: gzip, chunked", "Content-Encoding: gzip"],
    ])
    func `what is wanted whole has one coding at most`(lines: [String]) async throws {
        let coded = try Self.nothingness(blocks: 1_000)
        let server = try TestServer { _ in
            let head = (["HTTP/1.1 200 OK"] + lines + ["", ""]).joined(separator: "\r\n")
            return .script([.send(head), .sendData(coded), .close])
        }
        let error = try await failure { _ = try await CurlTransport().fetch(server.url()) }
        #expect(error.label == "protocol_error")
        // libcurl 8.14 itself refuses a transfer coding that was not asked for.
        let reasons = ["codings", "Unsolicited Transfer-Encoding"]
        #expect(reasons.contains { error.detail?.contains($0) == true }, "\(error)")
    }

    @Test(arguments: ["gzip", "identity, gzip", "gzip, identity"])
    func `one coding beside such as say nothing is undone`(coding: String) async throws {
        let text = Data(String(repeating: "hello", count: 100).utf8)
        let coded = try compressed(text)
        let server = try TestServer { _ in Answer.encoded(coding, coded).chunked() }
        #expect(try await CurlTransport().fetch(server.url()).body == text)
    }

    @Test func `a caller who names the codings gets them all as they are`() async throws {
        let coded = try Self.nothingness(blocks: 10)
        let server = try TestServer { _ in .encoded("gzip, gzip", coded) }
        let headers: HTTPHeaders = ["Accept-Encoding": "gzip"]
        #expect(try await CurlTransport().fetch(server.url(), headers: headers).body == coded)
    }
}
