import FoundationEssentials
import HTTPMessage
import Testing

@Suite struct MediaTypeTests {
    @Test(arguments: [
        "application/json", "Application/JSON", " application/json ", "\tapplication/json;charset=utf-8",
        "application/json ; charset=\"utf-8\"", "application/json;", "application/json; charset",
    ])
    func `report 3: the type is read in lower case and without parameters`(text: String) throws {
        let type = try #require(MediaType(text))
        #expect(type.essence == "application/json")
        #expect(type.type == "application")
        #expect(type.subtype == "json")
    }

    @Test(arguments: [
        "", "json", "/json", "application/", "application json", "a/b/c", "; charset=utf-8", "a,b/c",
        "é/json",
        "*", "application/json, text/plain",
    ])
    func `what does not begin with a type is none`(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test(arguments: [
        ("text/plain; charset=UTF-8", "UTF-8"), ("text/plain;CHARSET=utf-8", "utf-8"),
        ("text/plain; charset=\"utf-8\"", "utf-8"), ("text/plain; charset=\"a\\\"b;c\"", "a\"b;c"),
        ("text/plain; x=\"a;charset=b\"; charset=c", "c"), ("text/plain;;; charset = utf-8 ;y=1", "utf-8"),
        ("text/plain; charset=a; charset=b", "a"), ("text/plain; charset=", ""),
        ("text/plain; bad name=x; charset=utf-8", "utf-8"), ("text/plain; x=\u{301}; charset=utf-8", "utf-8"),
        ("text/plain;\u{301}; charset=utf-8", "utf-8"), ("text/plain; x=\"\u{301}\"; charset=utf-8", "utf-8"),
    ])
    func `a parameter is read without quotes and escapes`(text: String, charset: String) throws {
        #expect(try #require(MediaType(text)).charset == charset)
    }

    @Test(arguments: [
        "text/plain; x=\"open; charset=utf-8", "text/plain; charset=\"open", "text/plain; charset=\"a\\",
    ])
    func `a quoted string without an end hides what is behind it, not the type`(text: String) throws {
        let type = try #require(MediaType(text))
        #expect(type.essence == "text/plain")
        #expect(type.charset == nil)
    }

    @Test func `parameters keep their order and can be asked for by name`() throws {
        let type = try #require(MediaType("multipart/form-data; Boundary=\"a b\"; q=0.5"))
        #expect(type.parameters.map(\.name) == ["boundary", "q"])
        #expect(type[parameter: "BOUNDARY"] == "a b")
        #expect(type[parameter: "x"] == nil)
    }

    @Test func `a response tells its media type`() throws {
        let url = try #require(URL(string: "http://h/"))
        #expect(HTTPResponse.Head(status: 200, url: url).mediaType == nil)
        let head = HTTPResponse.Head(status: 200, headers: ["content-type": "Text/HTML"], url: url)
        #expect(head.mediaType?.essence == "text/html")
    }
}
