import Testing

@testable import NetManager

/// Event streams as the WHATWG reads them, wherever they are cut.
@Suite struct ServerSentEventParserTests {
    /// A stream and what it means.
    struct Sample: Sendable, CustomTestStringConvertible {
        let text: String
        let events: [ServerSentEvent]
        var lastEventID = ""
        var reconnectionTime: Duration?

        var testDescription: String { text.debugDescription }
    }

    private static func event(
        _ data: String,
        _ event: String = "message",
        id: String = "",
        retry: Duration? = nil
    ) -> ServerSentEvent {
        ServerSentEvent(id: id, event: event, data: data, reconnectionTime: retry)
    }

    static let samples: [Sample] = [
        Sample(text: "data: YHOO\ndata: +2\ndata: 10\n\n", events: [event("YHOO\n+2\n10")]),
        Sample(
            text:
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            events: [event("first event", id: "1"), event("second event"), event(" third event")]
        ),
        Sample(text: "data\n\ndata\ndata\n\ndata:", events: [event(""), event("\n")]),
        Sample(text: "data:test\n\ndata: test\n\n", events: [event("test"), event("test")]),
        Sample(text: "data: a\r\ndata: b\r\n\r\n", events: [event("a\nb")]),
        Sample(text: "data: a\rdata: b\r\r", events: [event("a\nb")]),
        Sample(text: "data: a\r\n\rdata: b\n\r\n", events: [event("a"), event("b")]),
        Sample(text: "\u{FEFF}data: a\n\n", events: [event("a")]),
        Sample(text: "\u{FEFF}\u{FEFF}data: a\n\n", events: []),
        Sample(text: "data: a\n\n\u{FEFF}data: b\n\n", events: [event("a")]),
        Sample(text: "event: add\ndata: 1\n\ndata: 2\n\n", events: [event("1", "add"), event("2")]),
        Sample(text: "event: add\n\ndata: 2\n\n", events: [event("2")]),
        Sample(text: "id: 7\n\n", events: [], lastEventID: "7"),
        Sample(text: "id: 7\ndata: a\n\nid: 8\ndata: b", events: [event("a", id: "7")], lastEventID: "7"),
        Sample(
            text: "id: 7\ndata: a\n\nid: 8\0\ndata: b\n\n",
            events: [event("a", id: "7"), event("b", id: "7")],
            lastEventID: "7"
        ),
        Sample(
            text: "retry: 1500\ndata: a\n\n",
            events: [event("a", retry: .milliseconds(1500))],
            reconnectionTime: .milliseconds(1500)
        ),
        Sample(text: "retry: 1.5\nretry: -1\nretry: x\nretry:\ndata: a\n\n", events: [event("a")]),
        Sample(text: "retry: 99999999999999999999\n\n", events: [], reconnectionTime: .longest),
        Sample(text: "Data: a\n data: b\nunknown: c\n:data: d\ndata : e\n\n", events: []),
        Sample(text: "data: a:b: c\n\n", events: [event("a:b: c")]),
        Sample(text: "data: ä€😀\nid: é\n\n", events: [event("ä€😀", id: "é")], lastEventID: "é"),
        Sample(text: "", events: []),
        Sample(text: "\n\n\n", events: []),
    ]

    private func parse(_ pieces: [Data]) throws -> (ServerSentEventParser, [ServerSentEvent]) {
        var parser = ServerSentEventParser(limit: 1_000)
        var events: [ServerSentEvent] = []
        for piece in pieces { events += try parser.push(piece) }
        return (parser, events)
    }

    private func check(_ sample: Sample, _ pieces: [Data]) throws {
        let (parser, events) = try parse(pieces)
        #expect(events == sample.events)
        #expect(parser.lastEventID == sample.lastEventID)
        #expect(parser.reconnectionTime == sample.reconnectionTime)
    }

    @Test(arguments: samples)
    func `a stream means the same wherever it is cut`(sample: Sample) throws {
        let bytes = Data(sample.text.utf8)
        try check(sample, [bytes])
        try check(sample, bytes.map { Data([$0]) })
        for cut in 0...bytes.count {
            for second in cut...bytes.count {
                try check(sample, [bytes[..<cut], bytes[cut..<second], bytes[second...]])
            }
        }
    }

    @Test func `bytes that are no UTF-8 are replaced`() throws {
        let (_, events) = try parse([Data("data: ".utf8), Data([0xFF, 0x0A, 0x0A])])
        #expect(events == [Self.event("\u{FFFD}")])
    }

    @Test func `an event that is too large is refused, whether in one line or in many`() throws {
        #expect(throws: BodyTooLarge.self) {
            try parse([Data("data: ".utf8), Data(repeating: 0x61, count: 1_000)])
        }
        let lines = String(repeating: "data: 0123456789\n", count: 100)
        #expect(throws: BodyTooLarge.self) { try parse([Data(lines.utf8)]) }
        let small = String(repeating: "data: 0123456789\n\n", count: 1_000)
        #expect(try parse([Data(small.utf8)]).1.count == 1_000)
    }
}
