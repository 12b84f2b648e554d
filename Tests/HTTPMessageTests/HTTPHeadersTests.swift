import HTTPMessage
import Testing

@Suite struct HTTPHeadersTests {
    static func names(_ headers: HTTPHeaders) -> [String] { headers.map(\.name) }

    @Test func `case 568: literal and subscript keep one field of a name, whatever its case`() {
        let literal: HTTPHeaders = ["key": "1", "Key": "2", "KEY": "3"]
        #expect(literal.fields == [.init(name: "KEY", value: "3")])

        var assigned = HTTPHeaders()
        for name in ["key", "Key", "KEY"] { assigned[name] = name }
        #expect(assigned.fields == [.init(name: "KEY", value: "KEY")])

        var replaced: HTTPHeaders = ["key": "1"]
        replaced.replace(with: ["Key": "2"])
        replaced.replace(with: ["KEY": "3"])
        #expect(replaced.fields == [.init(name: "KEY", value: "3")])

        var valued = HTTPHeaders()
        for name in ["key", "Key", "KEY"] { valued[values: name] = [name] }
        #expect(valued.count == 1)
    }

    @Test func `case 568: add keeps the fields that are there`() {
        var headers: HTTPHeaders = ["key": "1"]
        headers.add("2", for: "Key")
        headers.add("3", for: "KEY")
        #expect(headers.count == 3)
        #expect(headers["kEy"] == "1")
        #expect(headers[values: "kEy"] == ["1", "2", "3"])
        #expect(Self.names(headers) == ["key", "Key", "KEY"])
        #expect(HTTPHeaders(fields: headers.fields) == headers)
    }

    @Test func `case 569: fields keep the order of insertion`() {
        let literal: HTTPHeaders = ["c": "", "a": "", "b": ""]
        #expect(Self.names(literal) == ["c", "a", "b"])
        let array = HTTPHeaders(fields: ["b", "a", "c"].map { .init(name: $0, value: "") })
        #expect(Self.names(array) == ["b", "a", "c"])
        var manual = HTTPHeaders()
        for name in ["c", "b", "a"] { manual[name] = "" }
        #expect(Self.names(manual) == ["c", "b", "a"])
    }

    @Test func `case 571: the subscript reads and writes whatever the case`() {
        var headers: HTTPHeaders = ["c": "", "a": "", "b": ""]
        headers["C"] = "c"
        headers["a"] = "a"
        headers["b"] = "b"
        #expect(headers["c"] == "c")
        #expect(headers.map(\.value) == ["c", "a", "b"])
        #expect(headers.count == 3)
    }

    @Test func `case 572: the last spelling wins`() {
        var headers: HTTPHeaders = ["c": "a"]
        headers["C"] = "c"
        #expect(headers.description == "C: c")
    }

    @Test func `case 181: a field that was not set is nil`() {
        let headers: HTTPHeaders = ["a": "b"]
        #expect(headers["Unset-Header"] == nil)
        #expect(headers[values: "Unset-Header"].isEmpty)
        #expect(!headers.contains("Unset-Header"))
    }

    @Test func `case 182: nil removes every field of the name`() {
        var headers: HTTPHeaders = ["TestHeader": "test", "Other": "x"]
        headers.add("again", for: "testheader")
        headers["TESTHEADER"] = nil
        #expect(headers == ["Other": "x"])
        headers.remove("other")
        #expect(headers.isEmpty)
    }

    @Test func `setting all values keeps the place of the first`() {
        var headers: HTTPHeaders = ["a": "1", "b": "2", "c": "3"]
        headers.add("4", for: "B")
        headers[values: "b"] = ["5", "6", "7"]
        #expect(headers.map { $0.name + $0.value } == ["a1", "b5", "b6", "b7", "c3"])
        headers[values: "b"] = []
        #expect(Self.names(headers) == ["a", "c"])
    }

    @Test func `values are never joined or split at commas`() {
        var headers: HTTPHeaders = ["Accept": "a, b"]
        headers.add("c", for: "Accept")
        #expect(headers[values: "accept"] == ["a, b", "c"])
        #expect(headers["accept"] == "a, b")
    }

    @Test func `taking over another collection replaces names and keeps repeated fields`() {
        var headers: HTTPHeaders = ["Content-Type": "text/plain", "A": "1"]
        var other: HTTPHeaders = ["content-type": "application/json"]
        other.add("x", for: "Set-Cookie")
        other.add("y", for: "Set-Cookie")
        headers.replace(with: other)
        #expect(headers[values: "Content-Type"] == ["application/json"])
        #expect(headers[values: "set-cookie"] == ["x", "y"])
        #expect(headers["A"] == "1")
    }

    @Test func `equality looks at order and values, and at names without their case`() {
        let headers: HTTPHeaders = ["A": "1", "B": "2"]
        #expect(headers == ["a": "1", "b": "2"])
        #expect(headers.hashValue == (["a": "1", "b": "2"] as HTTPHeaders).hashValue)
        #expect(headers != ["B": "2", "A": "1"])
        #expect(headers != ["A": "1", "B": "3"])
        #expect(headers != ["A": "1"])
    }

    @Test func `only A–Z are compared without their case`() {
        var headers: HTTPHeaders = ["X-É": "1"]
        headers["x-é"] = "2"
        #expect(headers.count == 2)
        headers["x-É"] = "3"
        #expect(headers.map(\.value) == ["3", "2"])
    }

    static let injections = [
        "a\r\nX-B: b", "a\nb", "a\rb", "a\u{0}", "\r\n", "a\r\n\r\nGET /evil HTTP/1.1",
    ]

    @Test(arguments: injections)
    func `case 233, report 63: a value with CR, LF or NUL is found`(value: String) {
        let headers: HTTPHeaders = ["Good": "x", "X-A": value, "Later": "y"]
        #expect(headers.firstInvalidField == .init(name: "X-A", value: value))
    }

    @Test(arguments: ["", "a b", "a:", "a\r\nb", "é", "a\u{0}", "(a)", "a\t", "\"a\""])
    func `report 63: a name that is no token is found`(name: String) {
        let headers: HTTPHeaders = [name: "x"]
        #expect(headers.firstInvalidField?.name == name)
    }

    @Test func `all other names and values may be sent`() {
        let headers: HTTPHeaders = ["X-!#$%&'*+-.^_`|~1": "ü \t \u{1} \u{7F} \" : ; , 日", "Empty": ""]
        #expect(headers.firstInvalidField == nil)
    }
}
