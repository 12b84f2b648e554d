import Testing

@testable import HTTPMessage

/// Header fields that are looked up in the bytes in which they arrived.
@Suite struct ReceivedFieldsTests {
    private func headers(_ lines: String...) -> HTTPHeaders {
        HTTPHeaders(lines: Array(lines.map { $0 + "\r\n" }.joined().utf8))
    }

    @Test func `fields are found whatever the case, and each value is trimmed`() {
        let headers = headers("Content-Type:\t text/html ", "X-A: 1", "x-a:2", "X-Empty:", "X-AB: 3")
        #expect(headers["content-type"] == "text/html")
        #expect(headers[values: "X-A"] == ["1", "2"])
        #expect(headers["X-EMPTY"] == "")
        #expect(headers.contains("x-ab"))
        #expect(!headers.contains("X"))
        #expect(headers[""] == nil)
        #expect(headers.count == 5)
    }

    @Test func `lines that are no fields are neither found nor listed`() {
        let headers = headers("no colon", ": nameless", "X A: spaced", "X-B : spaced", "X-C: 1")
        #expect(headers.map(\.name) == ["X-C"])
        #expect(headers["X A"] == nil)
        #expect(headers["X-B "] == nil)
        #expect(headers["no colon"] == nil)
    }

    @Test func `a folded field is one value`() {
        let headers = headers("X-A: 1", "  2", "X-B: 3")
        #expect(headers["X-A"] == "1 2")
        #expect(headers["X-B"] == "3")
    }

    @Test func `a CR or NUL in the middle of a value becomes a space`() {
        let headers = HTTPHeaders(lines: Array("X-A: 1\rX-B: 2\u{0}\u{E9}\r\n".utf8))
        #expect(headers["X-A"] == "1 X-B: 2 \u{E9}")
        #expect(headers[values: "X-A"] == ["1 X-B: 2 \u{E9}"])
        #expect(headers.fields.map(\.value) == ["1 X-B: 2 \u{E9}"])
        #expect(!headers.contains("X-B"))
    }

    @Test func `bytes that are not UTF-8 are read as ISO-8859-1`() {
        let headers = HTTPHeaders(lines: Array("X-A: ".utf8) + [0x66, 0xFC, 0x72, 0x0D, 0x0A])
        #expect(headers["X-A"] == "für")
        #expect(headers.fields.first?.value == "für")
    }

    @Test func `a change makes a list of its own and leaves copies alone`() {
        let received = headers("X-A: 1", "X-B: 2")
        var changed = received
        changed["X-A"] = "3"
        changed.add("4", for: "X-C")
        #expect(received.map(\.value) == ["1", "2"])
        #expect(changed.map(\.value) == ["3", "2", "4"])
        #expect(received != changed)
        #expect(received == ["x-a": "1", "x-b": "2"])
        #expect(received.hashValue == HTTPHeaders(fields: received.fields).hashValue)
    }

    @Test func `whatever arrives, looking up and listing agree`() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("aB-: \t\r\n=\u{FC}".utf8)
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...40, using: &random)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &random) ?? 0x3A }
            let asked = HTTPHeaders(lines: bytes)
            let listed = HTTPHeaders(fields: HTTPHeaders(lines: bytes).fields)
            for name in ["a", "B", "aB", "-", "a-", "=", ""] + listed.map(\.name) {
                #expect(asked[name] == listed[name], "\(bytes)")
                #expect(asked[values: name] == listed[values: name], "\(bytes)")
                #expect(asked.contains(name) == listed.contains(name), "\(bytes)")
            }
        }
    }
}
