import FoundationEssentials
import HTTPMessage
import TestPKI
import TestServer
import Testing

@testable import NetManager

/// Answers of an HTTP/2 server that come before the body of the request has been sent (RFC 9113, section 8.1).
@Suite(.http2) struct HTTP2EarlyAnswerTests {
    private static let large = 8 << 20

    private static func pieces() -> AsyncStream<Data> {
        AsyncStream { stream in
            for _ in 0..<(large >> 16) { stream.yield(Data(count: 1 << 16)) }
            stream.finish()
        }
    }

    /// The kinds of a body.
    private static func body(_ kind: String, _ size: Int) -> HTTPBody {
        switch kind {
        case "stream": .stream(pieces())
        case "sized": .stream(pieces(), length: Int64(large))
        default: .data(Data(count: size))
        }
    }

    private func answer(_ fault: String, _ body: HTTPBody, _ manager: HTTPSessionManager, _ peer: HTTP2Peer)
        async throws -> Data
    {
        let url = try #require(URL(string: peer.url(fault)))
        return try await manager.send(HTTPRequest(.post, url: url, body: body)).body
    }

    @Test(arguments: ["data", "stream", "sized"])
    func `an answer that comes before the body ends the upload when the server wants no more`(kind: String)
        async throws
    {
        let peer = try await HTTP2Peer.shared.value
        let manager = peer.manager(CurlTransport())
        #expect(try await answer("/early/x", .data(Data(count: 1_000)), manager, peer) == Data("hello".utf8))
        for _ in 0..<3 {
            let body = Self.body(kind, Self.large)
            #expect(try await answer("/early-apart/x", body, manager, peer) == Data("hello".utf8))
        }
        #expect(try await manager.get(peer.url("/ok/x"), as: .data) == Data("hello".utf8))
    }

    @Test(arguments: ["data", "stream", "sized"])
    func `an answer that comes before the body does not keep a server from reading on`(kind: String)
        async throws
    {
        let peer = try await HTTP2Peer.shared.value
        let manager = peer.manager(CurlTransport())
        // libcurl by itself slept in 26 of 30 of these, although the whole body was sent.
        for _ in 0..<5 {
            let name = "first-\(UInt32.random(in: 0 ... .max))"
            let body = Self.body(kind, Self.large)
            try await withKnownIssue(
                "libcurl 8.5 ends the upload; 8.14 fails at times behind a body of unknown length",
                isIntermittent: true
            ) {
                let data = try await answer("/answer-first/" + name, body, manager, peer)
                #expect(data == Data("hello".utf8))
                #expect(try await peer.log(name, received: Self.large).received == Self.large)
            } when: {
                CurlLibrary.version >= 0x08_00_00
            }
        }
    }

    @Test(arguments: ["early-half", "early-broken", "early-unsized", "half-reset"])
    func `an answer of which the end is not certain does not count`(fault: String) async throws {
        let peer = try await HTTP2Peer.shared.value
        let manager = peer.manager(CurlTransport())
        // The last one comes when the whole body is there.
        let size = fault == "half-reset" ? 100_000 : Self.large
        for _ in 0..<3 {
            let error = await requestError {
                let data = try await answer("/\(fault)/x", Self.body("data", size), manager, peer)
                #expect(data == Data("hello".utf8))
            }
            // libcurl 7.88 does not say whether the content had ended before the reset. Later versions do, and 8.5 looks no
            // further.
            if CurlLibrary.version >= 0x08_00_00, error == nil,
                ["early-unsized", "early-broken"].contains(fault)
            {
                continue
            }
            #expect(error?.label == "connection_lost", "\(String(describing: error))")
            #expect(error?.response?.head.status == 200)
        }
    }

    @Test
    func `a POST whose answer comes in one piece with the reset of its stream is sent once`()
        async throws
    {
        let peer = try await HTTP2Peer.shared.value
        let manager = peer.manager(CurlTransport())
        let name = "piece-\(UInt32.random(in: 0 ... .max))"
        // cf_h2_recv of libcurl 7.88 empties what it has read for the stream before it looks whether the stream was
        // reset, and then hands on its end and no byte: no callback is told, that for its log included.
        try await withKnownIssue(
            "libcurl 7.88 drops an answer that it reads together with the reset",
            isIntermittent: CurlLibrary.version >= 0x08_00_00
        ) {
            let data = try await answer("/early/" + name, Self.body("data", Self.large), manager, peer)
            #expect(data == Data("hello".utf8))
        } matching: { issue in
            (issue.error as? RequestError)?.label == "outcome_unknown"
        }
        #expect(try await peer.log(name).posts == 1)
    }
}
