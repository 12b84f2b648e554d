import FoundationEssentials
import HTTPMessage
import Testing

@testable import NetManager

@Suite struct HeaderBlockTests {
    private func block(_ lines: String...) -> HeaderBlock { block(lines) }

    private func block(_ lines: [String]) -> HeaderBlock {
        var block = HeaderBlock()
        for line in lines { Array((line + "\r\n").utf8).withUnsafeBytes { block.append($0) } }
        return block
    }

    private func head(_ lines: String...) throws -> HTTPResponse.Head { try head(lines) }

    private func head(_ lines: [String]) throws -> HTTPResponse.Head {
        let url = try #require(URL(string: "http://h/"))
        return try #require(block(lines).head(url: url))
    }

    @Test func `status, version and fields are read in order`() throws {
        let head = try head("HTTP/1.1 200 OK", "A: 1", "b:  2\t", "A: 3", "")
        #expect(head.status == 200)
        #expect(head.version == .http1_1)
        #expect(head.headers.map(\.name) == ["A", "b", "A"])
        #expect(head.headers[values: "a"] == ["1", "3"])
        #expect(head.headers["B"] == "2")
    }

    @Test func `report 57: only the last section counts`() throws {
        let head = try head("HTTP/1.1 302 Found", "X-B: 1", "", "HTTP/1.1 200 OK", "X-A: 1", "X-A: 2", "")
        #expect(head.status == 200)
        #expect(!head.headers.contains("X-B"))
        #expect(head.headers[values: "X-A"] == ["1", "2"])
    }

    @Test func `a status line without a reason is one`() {
        #expect(block("HTTP/2 204").status == 204)
        #expect(block("HTTP/1.1 404 ").status == 404)
    }

    @Test(arguments: [
        "HTTP/1.1 abc", "HTTP/1.1", "HTTP/9 200", "HTTP/1.1 99 x", "HTTP/1.1 2000 x", "nonsense",
    ])
    func `what is no status line has no status`(line: String) {
        #expect(block(line).status == nil)
    }

    @Test func `a folded value is joined by a space`() throws {
        #expect(try head("HTTP/1.1 200 OK", "A: 1", "  2", "").headers["A"] == "1 2")
    }

    @Test func `a line that is no field is left out`() throws {
        #expect(try head("HTTP/1.1 200 OK", "no colon", "bad name: 1", ": 1", "A: 1", "").headers.count == 1)
    }

    @Test(arguments: [
        ["5, 6"], ["5", "6"], ["5,5,6"], ["5", "5, 6"], ["5x"], ["5 5"], ["+5"], ["-5"], ["0x5"], ["5."],
        [""],
        ["5,"], [",5"], ["٥"], ["9223372036854775808"],
    ])
    func `a response without one clear length is refused`(values: [String]) throws {
        let block = block(["HTTP/1.1 200 OK"] + values.map { "Content-Length: \($0)" } + [""])
        #expect(block.status == 200)
        #expect(block.head(url: try #require(URL(string: "http://h/"))) == nil)
    }

    @Test(
        arguments: [
            (["5"], 5), (["5, 5"], 5), (["5", "5"], 5), (["5 ,\t5"], 5), (["05, 5"], 5), ([], nil),
        ] as [([String], Int64?)]
    )
    func `the same length said twice is that length`(values: [String], bytes: Int64?) throws {
        let head = try head(["HTTP/1.1 200 OK"] + values.map { "Content-Length: \($0)" } + [""])
        #expect(try #require(DeclaredLength(head.headers)).bytes == bytes)
    }

    @Test func `a length is found however its name is spelled, and belongs to its own section`() throws {
        let url = try #require(URL(string: "http://h/"))
        var moved = block(
            "HTTP/1.1 103 Early",
            "Content-Length: 7",
            "",
            "HTTP/1.1 200 OK",
            "X-Content-Type: 9",
            "CONTENT-length:\t5 ",
            "Content-Length-X: 6",
            ""
        )
        let movedSection = moved.takeSection(url: url)
        #expect(movedSection?.length == 5)
        var none = block("HTTP/1.1 103 Early", "Content-Length: x", "", "HTTP/1.1 200 OK", "A: 1", "")
        let taken = none.takeSection(url: url)
        let section = try #require(taken)
        #expect(section.length == nil && section.head.headers.count == 1)
    }

    @Test func `a length that is folded is read as a whole`() throws {
        let url = try #require(URL(string: "http://h/"))
        var folded = block("HTTP/1.1 200 OK", "Content-Length:", "  5", "")
        let foldedSection = folded.takeSection(url: url)
        #expect(foldedSection?.length == 5)
        var two = block("HTTP/1.1 200 OK", "Content-Length: 5", "  6", "")
        let twoSection = two.takeSection(url: url)
        #expect(twoSection == nil)
    }

    @Test func `bytes that are no UTF-8 are read as ISO-8859-1`() throws {
        var block = block("HTTP/1.1 200 OK")
        ([0x41, 0x3A, 0x20, 0xE9, 0x0D, 0x0A] as [UInt8]).withUnsafeBytes { block.append($0) }
        let url = try #require(URL(string: "http://h/"))
        let head = try #require(block.head(url: url))
        #expect(head.headers["A"] == "é")
    }

    @Test func `all sections together have a limit`() {
        var block = HeaderBlock()
        let line = [UInt8](repeating: 0x41, count: HeaderBlock.limit)
        let first = line.withUnsafeBytes { block.count($0) }
        let second = line.withUnsafeBytes { block.count($0) }
        #expect(first)
        #expect(!second)
    }
}
