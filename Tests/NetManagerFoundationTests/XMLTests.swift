import Foundation
import FoundationXML
import NetManagerFoundation
import Testing

/// XML documents as trees and for Foundation's parser.
@Suite struct XMLTests {
    private static let document =
        #"<?xml version="1.0" encoding="UTF-8"?><foo attr1="1" attr2="2"><bar>someValue</bar></foo>"#

    private func tree(_ text: String, limits: XMLLimits = XMLLimits()) throws -> XMLTree {
        try XMLResponseSerializer(limits: limits).serialize(HTTPResponse(text, type: "application/xml"))
    }

    @Test(arguments: ["text/xml", "application/xml", "Application/XML; charset=utf-8"])
    func `cases 457, 461, 464: a document of an XML type becomes a tree`(type: String) throws {
        let tree = try XMLResponseSerializer().serialize(HTTPResponse(Self.document, type: type))
        let bar = XMLTree("bar", content: [.text("someValue")])
        #expect(tree == XMLTree("foo", attributes: ["attr1": "1", "attr2": "2"], content: [.element(bar)]))
        #expect(tree["bar"]?.text == "someValue")
        #expect(tree["baz"] == nil)
    }

    @Test func `cases 458, 463: another type is −1016`() throws {
        let response = HTTPResponse(Self.document, type: "nonstandard/xml")
        for error in [
            serializationError { try XMLResponseSerializer().serialize(response) },
            serializationError { try XMLParserResponseSerializer().serialize(response) },
        ] {
            let number = (try #require(error) as NSError).number
            #expect(number == "com.alamofire.error.serialization.response -1016")
        }
    }

    @Test func `cases 460, 466: copies keep statuses, types and limits`() {
        var serializer = XMLResponseSerializer(limits: XMLLimits(maximumDepth: 3))
        serializer.validation = ResponseValidation(
            acceptableStatusCodes: [100],
            acceptableContentTypes: ["test/type"]
        )
        let copy = serializer
        serializer.validation = .xml
        serializer.limits = XMLLimits()
        #expect(copy.validation.acceptableStatusCodes == [100])
        #expect(copy.validation.acceptableContentTypes == ["test/type"])
        #expect(copy.limits.maximumDepth == 3)
    }

    @Test func `case 457: the parser is given before it has run`() throws {
        let source = try XMLParserResponseSerializer().serialize(
            HTTPResponse(Self.document, type: "text/xml")
        )
        final class Names: NSObject, XMLParserDelegate {
            var names: [String] = []
            func parser(
                _: XMLParser,
                didStartElement name: String,
                namespaceURI _: String?,
                qualifiedName _: String?,
                attributes _: [String: String]
            ) {
                names.append(name)
            }
        }
        let names = Names()
        let parser = source.makeParser()
        parser.delegate = names
        #expect(!parser.shouldResolveExternalEntities)
        #expect(names.names.isEmpty)
        #expect(parser.parse())
        #expect(names.names == ["foo", "bar"])
        let broken = try XMLParserResponseSerializer().serialize(HTTPResponse("<a><b>", type: "text/xml"))
        #expect(broken.data == Data("<a><b>".utf8))
    }

    @Test func `through the manager by its short names`() async throws {
        let stub = StubTransport(headers: ["Content-Type": "text/xml"], body: Data(Self.document.utf8))
        let manager = HTTPSessionManager(.init(), transport: stub)
        #expect(try await manager.get("http://h/", as: .xml).name == "foo")
        #expect(try await manager.get("http://h/", as: .xmlParser).makeParser().parse())
    }

    @Test func `references, CDATA and mixed content become text in order`() throws {
        let tree = try tree("<a>x &lt;&#233;<![CDATA[<&>]]><!-- no --><b c='&quot;'> </b>\n<?p i?>y</a>")
        let b = XMLTree("b", attributes: ["c": "\""], content: [.text(" ")])
        #expect(tree.content == [.text("x <é<&>"), .element(b), .text("\ny")])
        #expect(tree.text == "x <é<&> \ny")
        #expect(tree.children(named: "b") == [b])
    }

    @Test func `names keep their prefixes, declared or not`() throws {
        let tree = try tree("<p:a xmlns:p='u'><p:b p:c='1'/></p:a>")
        #expect(tree.name == "p:a")
        #expect(tree.attributes == ["xmlns:p": "u"])
        #expect(tree.children.first?.attributes == ["p:c": "1"])
    }

    @Test(arguments: [
        " ", "x", "<a>", "<a", "<a><", "<a></b>", "<a/><b/>", "<a/>x", "<a b=1/>", "<a b='1' b='2'/>",
        "<a>\u{1}</a>", "<a>&#0;</a>", "<a>&nope;</a>", "<a>&</a>", "<a>\u{0}</a>", "<!DOCTYPE a>", "<?xml",
        "<?xml version='1.0'?>", "<!--", "<!-- x -->", "<a><![CDATA[</a>", "</a>", "{}", "<a/><a/>",
    ])
    func `what is not well-formed is an error with its place`(text: String) throws {
        let error = try #require(serializationError { try tree(text) })
        guard case .malformedXML(let code, _, let line, let column) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(code > 0 && line > 0 && column > 0)
        let full = NSError(requestError: error)
        #expect(full.number == "NSXMLParserErrorDomain \(code)")
        #expect(full.userInfo["NSXMLParserErrorLineNumber"] as? Int == line)
    }

    @Test func `a bad status stands above broken XML`() throws {
        let response = HTTPResponse("<a>", type: "text/xml", status: 500)
        let error = try #require(serializationError { try XMLResponseSerializer().serialize(response) })
        let full = NSError(requestError: error)
        #expect(full.code == -1011)
        #expect(full.underlying?.domain == "NSXMLParserErrorDomain")
    }

    @Test func `no body is an error of its own`() throws {
        for status in [200, 204] {
            let error = serializationError {
                try XMLResponseSerializer().serialize(HTTPResponse("", type: "text/xml", status: status))
            }
            #expect((try #require(error) as NSError).code == -1014)
        }
    }

    // MARK: Character sets

    @Test(arguments: [
        ("<a>é</a>", "text/xml", String.Encoding.utf8), ("\u{FEFF}<a>é</a>", "text/xml", .utf8),
        ("\u{FEFF}<a>é</a>", "text/xml; charset=iso-8859-1", .utf8),
        ("<a>é</a>", "text/xml; charset=iso-8859-1", .isoLatin1),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>", "text/xml", .isoLatin1),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>", "text/xml; charset=utf-8", .utf8),
        ("\u{FEFF}<?xml version='1.0' encoding=\"UTF-16\"?><a>é</a>", "text/xml", .utf16LittleEndian),
        ("\u{FEFF}<?xml version='1.0' encoding='UTF-16'?><a>é</a>", "text/xml", .utf16BigEndian),
    ])
    func `the mark, the header and the declaration tell the character set, in this order`(
        text: String,
        type: String,
        encoding: String.Encoding
    ) throws {
        let data = try #require(text.data(using: encoding))
        #expect(try XMLResponseSerializer().serialize(HTTPResponse(data, type: type)).text == "é")
    }

    @Test func `GBK is read, bytes that are no text are an error`() throws {
        let head = Data("<?xml version='1.0' encoding='GBK'?><a>".utf8)
        let document = head + [0xC4, 0xE3] + Data("</a>".utf8)
        #expect(try XMLResponseSerializer().serialize(HTTPResponse(document, type: "text/xml")).text == "你")
        let broken = Data("<a>".utf8) + [0xC3, 0x28] + Data("</a>".utf8)
        let error = serializationError {
            try XMLResponseSerializer().serialize(HTTPResponse(broken, type: "text/xml"))
        }
        guard case .unreadableText(_, 3) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `the place of an error is that in the document as it was sent`() throws {
        let error = serializationError { try tree("<?xml version='1.0' encoding='utf-8'?>\n<a>\n</b>") }
        guard case .malformedXML(76, _, 3, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
