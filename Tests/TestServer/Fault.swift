import FoundationEssentials

/// A ready-made bad answer with a name, for tests over many of them.
public struct Fault: Sendable, CustomStringConvertible {
    /// What is wrong.
    public let description: String
    /// The answer that does it.
    public let answer: Answer

    /// Names an answer.
    public init(_ description: String, _ answer: Answer) {
        self.description = description
        self.answer = answer
    }

    private init(_ description: String, raw text: String) {
        self.init(description, .raw(text))
    }

    private init(_ description: String, _ steps: [Step]) {
        self.init(description, .script(steps))
    }
}

extension Fault {
    /// Responses that no client can take for one: each must become an error.
    public static let unusable: [Fault] = [
        Fault("no status line", raw: "Content-Type: text/plain\r\n\r\nhello"),
        Fault("HTTP/0.9", raw: "hello\n"),
        Fault("random bytes", .raw(Data([0x16, 0x03, 0x01, 0x00, 0xFF, 0xFE, 0x0A, 0x0D, 0x0A, 0x00]))),
        Fault("a status that is no number", raw: "HTTP/1.1 abc\r\n\r\n"),
        Fault("a head that ends in its middle", raw: "HTTP/1.1 200 OK\r\nContent-Le"),
        Fault("a close without a byte", [.close]),
        Fault("a reset without a byte", [.reset]),
        truncatedBody(declaring: 100, sending: 10),
        Fault("a close in the middle of a chunk", [.send(chunkedHead + "a\r\nhalf"), .close]),
        Fault("a close between chunks", [.send(chunkedHead + "4\r\nhalf\r\n"), .close]),
        Fault("a chunk length that is no number", [.send(chunkedHead + "zz\r\nhalf\r\n0\r\n\r\n"), .close]),
        Fault(
            "a chunk length above 64 bits",
            [.send(chunkedHead + "FFFFFFFFFFFFFFFFF\r\nhalf\r\n0\r\n\r\n"), .close]
        ),
        Fault("a reset in the middle of a body", [.send(head(length: 100) + "half"), .reset]),
        Fault("two lengths", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
        Fault("two lengths in one field", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello!"),
        Fault("a number with more behind it", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\nhello"),
        Fault(
            "a length above 64 bits",
            raw: "HTTP/1.1 200 OK\r\nContent-Length: 92233720368547758080\r\n\r\nhello"
        ),
        Fault("a length that is no number", raw: "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nhello"),
        Fault("a negative length", raw: "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"),
        giantHeader(bytes: 1 << 20),
    ]

    /// Responses that are odd and still have one right reading.
    public static let usable: [Fault] = [
        Fault("no reason phrase", raw: "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello"),
        Fault("no space behind the status", raw: "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello"),
        Fault("one length said twice", raw: "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello"),
        Fault("no length", raw: "HTTP/1.1 200 OK\r\n\r\nhello"),
        Fault("HTTP/1.0", raw: "HTTP/1.0 200 OK\r\n\r\nhello"),
        Fault("a field name in odd case", raw: "HTTP/1.1 200 OK\r\ncONTENT-lENGTH: 5\r\n\r\nhello"),
        Fault(
            "a field without a value",
            raw: "HTTP/1.1 200 OK\r\nX-Empty:\r\nContent-Length: 5\r\n\r\nhello"
        ),
        Fault("one byte at a time", [.sendSlowly(head(length: 5) + "hello"), .close]),
        Fault("ten interim responses", interim(10) + [.send(head(length: 5) + "hello"), .close]),
        Fault(
            "chunks with extensions",
            [.send(chunkedHead + "2;a=b\r\nhe\r\n3;c\r\nllo\r\n0\r\n\r\n"), .close]
        ),
        Fault("chunks of one byte", .text("hello").chunked(1)),
    ]

    /// A body that is shorter than its declared length.
    public static func truncatedBody(declaring length: Int, sending count: Int) -> Fault {
        Fault(
            "a body of \(count) bytes instead of \(length)",
            [.send(head(length: length) + String(repeating: "x", count: count)), .close]
        )
    }

    /// A status that has no body (204, 304) with a length and bytes, as a broken server sends them.
    public static func bodyOfNoContent(status: Int = 204) -> Fault {
        Fault("a body of \(status)", raw: "HTTP/1.1 \(status) X\r\nContent-Length: 5\r\n\r\nhello")
    }

    /// A header field of a size; clients stop reading heads at some limit (libcurl's is 300 KiB).
    public static func giantHeader(bytes: Int) -> Fault {
        // Kibibytes keep the script small.
        let filler = String(repeating: "h", count: 1_024)
        return Fault(
            "a header field of \(bytes) bytes",
            [
                .send("HTTP/1.1 200 OK\r\nX-Giant: "),
                .sendRepeatedly(filler, count: bytes / 1_024),
                .send("\r\nContent-Length: 5\r\n\r\nhello"),
                .close,
            ]
        )
    }

    /// A head with a number of small fields.
    public static func manyHeaders(_ count: Int) -> Fault {
        Fault(
            "\(count) header fields",
            [
                .send("HTTP/1.1 200 OK\r\n"),
                .sendRepeatedly("X-Many: value\r\n", count: count),
                .send("Content-Length: 5\r\n\r\nhello"),
                .close,
            ]
        )
    }

    /// Interim responses without end or up to a number, then a final one.
    public static func interimFlood(_ count: Int) -> Fault {
        Fault(
            "\(count) interim responses",
            interim(count) + [.send(head(length: 5) + "hello"), .close]
        )
    }

    /// A body in chunks that does not end before the client leaves or the server stops.
    public static let endlessBody = Fault(
        "a body without end",
        [
            .send(chunkedHead),
            .sendRepeatedly("400\r\n\(String(repeating: "e", count: 1_024))\r\n", count: .max),
        ]
    )

    /// A head that does not end before the client leaves or the server stops.
    public static let endlessHead = Fault(
        "a head without end",
        [.send("HTTP/1.1 200 OK\r\n"), .sendRepeatedly("X-Endless: value\r\n", count: .max)]
    )

    /// Half a head, then the rest when the gate opens.
    public static func slowHead(_ gate: Gate) -> Fault {
        Fault(
            "a head that stops in its middle",
            [.send("HTTP/1.1 200 OK\r\nContent-"), .wait(gate), .send("Length: 5\r\n\r\nhello"), .close]
        )
    }

    /// A head and half of the body, then the rest when the gate opens.
    public static func slowBody(_ gate: Gate) -> Fault {
        Fault(
            "a body that stops in its middle",
            [.send(head(length: 10) + "hello"), .wait(gate), .send("world"), .close]
        )
    }

    /// Nothing at all until the client leaves or the server stops.
    public static let silence = Fault("silence", [.stall])

    /// Bytes behind the response that nobody asked for; the connection stays open.
    ///
    /// A client that used the connection again would take them for its next answer.
    public static let unsolicitedResponse = Fault(
        "a second response that nobody asked for",
        [.send(head(length: 5) + "hello" + head(length: 4) + "evil")]
    )

    /// A redirect to itself.
    public static let endlessRedirect = Fault("a redirect to itself", .redirect(to: "/"))

    private static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static func head(length: Int) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"
    }

    private static func interim(_ count: Int) -> [Step] {
        [.sendRepeatedly("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: count)]
    }
}

extension Fault {
    /// Answers the first request of each connection and keeps the connection; a later one on the same
    /// connection is read in full and then gets these steps, as an idle connection that just died.
    ///
    /// `[.close]` and `[.reset]` make clients repeat the request on a new connection; for a POST they must not.
    public static func onReuse(_ steps: [Step], first: Answer = .text("first")) -> TestServer.Handler {
        { $0.indexOnConnection == 0 ? first : .script(steps) }
    }
}
