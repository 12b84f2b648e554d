import FoundationEssentials
import HTTPMessage
import Testing

@testable import Serializers

@Suite struct MultipartFramingTests {
    /// A boundary of 25 bytes, as long as a random one.
    static let boundary = "Boundary+0123456789ABCDEF"

    static func form() throws -> MultipartForm { try MultipartForm(boundary: boundary) }

    static func text(_ form: MultipartForm) async throws -> String {
        String(decoding: try await form.encoded(), as: UTF8.self)
    }

    @Test func `case 367: a parameter and a file in memory are framed to the byte`() async throws {
        var form = try Self.form()
        form.append(Data("Data".utf8), name: "DataName", fileName: "DataFileName", mimeType: "data")
        try form.prepend(parameters: ["key": "value"])
        let expected = """
            --B\r
            Content-Disposition: form-data; name="key"\r
            \r
            value\r
            --B\r
            Content-Disposition: form-data; name="DataName"; filename="DataFileName"\r
            Content-Type: data\r
            \r
            Data\r
            --B--\r

            """.replacing("--B", with: "--" + Self.boundary)
        #expect(try await Self.text(form) == expected)
        #expect(expected.utf8.count == 244)
        #expect(form.contentLength == 244)
    }

    @Test func `case 368: an empty value has an empty body`() async throws {
        var form = try Self.form()
        try form.prepend(parameters: ["e": ""])
        let expected = """
            --B\r
            Content-Disposition: form-data; name="e"\r
            \r
            \r
            --B--\r

            """.replacing("--B", with: "--" + Self.boundary)
        #expect(try await Self.text(form) == expected)
        #expect(form.contentLength == 106)
    }

    @Test func `case 388: one part of data`() async throws {
        var form = try MultipartForm(boundary: "B")
        form.append(Data("Lorem ipsum dolor sit amet.".utf8), name: "data")
        #expect(
            try await Self.text(form)
                == "--B\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\n"
                + "Lorem ipsum dolor sit amet.\r\n--B--\r\n"
        )
    }

    @Test func `case 389: three parts of text, two with a type`() async throws {
        var form = try Self.form()
        form.append(Data("français".utf8), name: "french")
        form.append(Data("日本語".utf8), name: "japanese", mimeType: "text/plain")
        form.append(Data("😃👍🏻🍻🎉".utf8), name: "emoji", mimeType: "text/plain")
        #expect(
            try await form.readParts() == [
                .init("Content-Disposition: form-data; name=\"french\"", body: "français"),
                .init(
                    "Content-Disposition: form-data; name=\"japanese\"",
                    "Content-Type: text/plain",
                    body: "日本語"
                ),
                .init(
                    "Content-Disposition: form-data; name=\"emoji\"",
                    "Content-Type: text/plain",
                    body: "😃👍🏻🍻🎉"
                ),
            ]
        )
    }

    @Test func `case 371: brackets in names are not escaped`() async throws {
        var form = try Self.form()
        try form.prepend(parameters: ["a": ["b": 1], "c": ["x"], "n": nil, "t": true])
        #expect(
            try await form.readParts() == [
                .init("Content-Disposition: form-data; name=\"a[b]\"", body: "1"),
                .init("Content-Disposition: form-data; name=\"c[]\"", body: "x"),
                .init("Content-Disposition: form-data; name=\"n\"", body: ""),
                .init("Content-Disposition: form-data; name=\"t\"", body: "1"),
            ]
        )
    }

    @Test func `case 373: parameters stand before the parts`() async throws {
        var form = try Self.form()
        form.append(Data("f".utf8), name: "f")
        try form.prepend(parameters: ["z": 1, "a": 2])
        let names = try await form.readParts().map { $0.headers[0] }
        #expect(names == ["a", "z", "f"].map { "Content-Disposition: form-data; name=\"\($0)\"" })
    }

    @Test func `parameters that are no object are refused and leave the form as it is`() throws {
        var form = try Self.form()
        form.append(Data("f".utf8), name: "f")
        #expect(throws: SerializationError.self) { try form.prepend(parameters: ["x"]) }
        #expect(form.parts.count == 1)
    }

    static let names: [FormVector<String>] = [
        .init("379", "a\"b.txt", "a%22b.txt"),
        .init("380", "a\r\nX-Evil: 1", "a%0D%0AX-Evil: 1"),
        .init("380, alone", "\r\n", "%0D%0A"),
        .init("379, backslash", "a\\", "a\\"),
        .init("percent signs are not escaped, as browsers do not", "100%22", "100%22"),
        .init("UTF-8", "日本語.txt", "日本語.txt"),
    ]

    @Test(arguments: names)
    func `cases 379, 380: names and file names cannot leave their quotes or their line`(
        vector: FormVector<String>
    ) async throws {
        var form = try Self.form()
        form.append(Data(), name: vector.input, fileName: vector.input)
        #expect(
            try await form.readParts().map(\.headers) == [
                [
                    "Content-Disposition: form-data; name=\"\(vector.output)\"; "
                        + "filename=\"\(vector.output)\""
                ]
            ]
        )
    }

    @Test(arguments: ["text/plain\r\nX-Evil: 1", "a\nb", "a\u{0}"])
    func `a content type that would start a new header line fails the form`(type: String) async throws {
        var form = try Self.form()
        form.append(Data(), name: "a", mimeType: type)
        let url = try #require(URL(string: "http://h/"))
        var request = HTTPRequest(.post, url: url)
        #expect(throws: SerializationError.self) { try form.serialize(into: &request) }
        #expect(request.body == nil)
        await #expect(throws: SerializationError.self) { try await form.encoded() }
    }

    @Test func `a random boundary has 25 bytes and is another one each time`() {
        let boundaries = (0..<100).map { _ in MultipartForm().boundary }
        #expect(Set(boundaries).count == 100)
        for boundary in boundaries {
            #expect(boundary.wholeMatch(of: /Boundary\+[0-9A-F]{16}/) != nil)
        }
    }

    @Test(arguments: ["", "é", "a\r\n", "a ", "a\"b", String(repeating: "a", count: 71)])
    func `a boundary that no recipient could read is refused`(boundary: String) {
        #expect(throws: SerializationError.self) { try MultipartForm(boundary: boundary) }
    }

    @Test func `case 370, case 386: the content type names the boundary of the body`() throws {
        #expect(try Self.form().contentType == "multipart/form-data; boundary=\(Self.boundary)")
        #expect(try MultipartForm(boundary: "a b:c").contentType == "multipart/form-data; boundary=\"a b:c\"")
    }

    @Test(arguments: ["\r\n--B\r\n", "--B", "x--B--", "----B"])
    func `case 383: a part in memory that holds the boundary gets another boundary`(text: String) async throws
    {
        var form = try MultipartForm(boundary: "B")
        form.append(Data("one".utf8), name: "a")
        form.append(Data(text.utf8), name: "b")
        #expect(form.boundary != "B")
        #expect(try await form.readParts().map(\.body) == [Data("one".utf8), Data(text.utf8)])
    }

    @Test func `case 383: a part that holds only pieces of the boundary keeps it`() throws {
        var form = try MultipartForm(boundary: "B")
        form.append(Data("-B - -B B-- --".utf8), name: "b")
        #expect(form.boundary == "B")
    }
}
