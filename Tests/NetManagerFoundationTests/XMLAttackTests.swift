import Foundation
import FoundationXML
import NetManagerFoundation
import TestServer
import Testing

/// Documents that were written to do harm.
@Suite struct XMLAttackTests {
    private func code(_ text: String, limits: XMLLimits = XMLLimits()) -> Int? {
        let response = HTTPResponse(text, type: "application/xml")
        let serializer = XMLResponseSerializer(limits: limits)
        guard
            case .malformedXML(let code, _, _, _) = serializationError({ try serializer.serialize(response) })
        else { return nil }
        return code
    }

    /// A document type with declarations of its own is refused by both serializers.
    private func isRefused(_ text: String) -> Bool {
        let response = HTTPResponse(text, type: "application/xml")
        let error = serializationError { try XMLParserResponseSerializer().serialize(response) }
        guard case .malformedXML(512, _, _, _) = error else { return false }
        return code(text) == 512
    }

    @Test(arguments: [3, 9])
    func `entities that multiply are refused`(levels: Int) {
        var declarations = "<!ENTITY e0 'ha'>"
        for level in 1...levels {
            let references = String(repeating: "&e\(level - 1);", count: 10)
            declarations += "<!ENTITY e\(level) '\(references)'>"
        }
        let type = "<!DOCTYPE l [\(declarations)]>"
        #expect(isRefused("\(type)<l>&e\(levels);</l>"))
        #expect(isRefused("\(type)<l a='&e\(levels);'/>"))
        #expect(isRefused("<?xml version='1.0'?>\n<!-- > --><?p [?>\(type)<l>&e\(levels);</l>"))
    }

    @Test(arguments: [
        "<!DOCTYPE l [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><l>&x;</l>",
        "<!DOCTYPE l [<!ENTITY % x SYSTEM 'file:///etc/passwd'> %x;]><l>a</l>",
        "<!DOCTYPE l PUBLIC 'a[>' \"b'>\" [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><l>&x;</l>",
        "<!DOCTYPE l\n[ ]><l/>",
    ])
    func `documents that declare entities of their own are refused`(text: String) {
        #expect(isRefused(text))
    }

    @Test func `the character set does not hide a declaration`() throws {
        let text = "\u{FEFF}<!DOCTYPE l [<!ENTITY x 'y'>]><l>&x;</l>"
        let data = try #require(text.data(using: .utf16LittleEndian))
        let error = serializationError {
            try XMLResponseSerializer().serialize(HTTPResponse(data, type: "application/xml"))
        }
        guard case .malformedXML(512, _, _, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a document type elsewhere is not fetched, and its entities are none`() throws {
        let server = try TestServer { _ in .text("<!ENTITY x 'fetched'>") }
        let url = server.url("/x.dtd", host: "127.0.0.1")
        for type in ["SYSTEM '\(url)'", "PUBLIC '-//X//Y' '\(url)'"] {
            let plain = HTTPResponse("<!DOCTYPE l \(type)><l>a</l>", type: "application/xml")
            #expect(try XMLResponseSerializer().serialize(plain).text == "a")
            #expect(try XMLParserResponseSerializer().serialize(plain).makeParser().parse())
            let using = HTTPResponse("<!DOCTYPE l \(type)><l>a&x;b</l>", type: "application/xml")
            let text = try? XMLResponseSerializer().serialize(using).text
            #expect(text == nil || text == "ab")
        }
        #expect(server.counters.connections == 0)
    }

    @Test func `words of a declaration in the content are content`() throws {
        let text = "<l><![CDATA[<!DOCTYPE l [<!ENTITY x 'y'>]>]]></l>"
        let tree = try XMLResponseSerializer().serialize(HTTPResponse(text, type: "text/xml"))
        #expect(tree.text == "<!DOCTYPE l [<!ENTITY x 'y'>]>")
    }

    @Test func `depth, number and size are limited`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(code(nested(256)) == nil)
        #expect(code(nested(257)) == 512)
        #expect(code(nested(100_000)) == 512)
        #expect(code(String(repeating: "<a>", count: 100_000)) == 512)
        #expect(XMLLimits(maximumDepth: .max).maximumDepth == 1000)

        let three = XMLLimits(maximumNodes: 3)
        #expect(code("<a b='1'><c/></a>", limits: three) == nil)
        #expect(code("<a b='1' d='2'><c/></a>", limits: three) == 512)
        #expect(code("<a><b/><c>x</c></a>", limits: three) == 512)

        let small = XMLResponseSerializer(limits: XMLLimits(maximumSize: 7))
        _ = try small.serialize(HTTPResponse("<a></a>", type: "text/xml"))
        let error = serializationError { try small.serialize(HTTPResponse("<a> </a>", type: "text/xml")) }
        #expect((try #require(error) as NSError).number == "NSURLErrorDomain -1103")
    }

    @Test func `the deepest tree is let go of on a small stack`() async throws {
        let text = String(repeating: "<a>", count: 1000) + String(repeating: "</a>", count: 1000)
        let limits = XMLLimits(maximumDepth: 1000)
        let isRead = await withCheckedContinuation { done in
            let thread = Thread {
                let response = HTTPResponse(text, type: "text/xml")
                let tree = try? XMLResponseSerializer(limits: limits).serialize(response)
                let isRead = tree.map { $0.text.isEmpty && $0 == $0 } ?? false
                done.resume(returning: isRead)
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(isRead)
    }

    @Test func `more than the ten megabytes that libxml2 takes in a piece are read`() throws {
        let text = String(repeating: "x", count: 12 << 20)
        let tree = try XMLResponseSerializer().serialize(HTTPResponse("<a>\(text)</a>", type: "text/xml"))
        #expect(tree.text.utf8.count == 12 << 20)
    }
}
