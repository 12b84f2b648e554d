import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite struct FormRequestSerializerTests {
    static let formType = "application/x-www-form-urlencoded"

    @Test func `case 169: POST carries the pairs in its body`() throws {
        let request = try serialized(.post, ["key": "value"])
        #expect(request.headers["Content-Type"] == Self.formType)
        #expect(request.bodyText == "key=value")
        #expect(request.url.absoluteString == "http://example.com")
    }

    @Test func `case 170, report 21: POST without parameters has an empty body and says its type`() throws {
        let request = try serialized(.post, nil)
        #expect(request.headers["Content-Type"] == Self.formType)
        #expect(request.bodyText?.isEmpty == true)
        #expect(request.body?.knownLength == 0)
    }

    @Test func `POST without parameters keeps the body that the request has`() throws {
        let url = try #require(URL(string: "http://h/"))
        var request = HTTPRequest(.post, url: url, body: .data(Data("own".utf8)))
        try FormRequestSerializer().serialize(nil, into: &request)
        #expect(request.bodyText == "own")
        #expect(request.headers.isEmpty)
    }

    @Test func `case 172, case 235, report 19: nothing to say leaves the URL as it is`() throws {
        for parameters in [[:], ["a": []], nil] as [JSONValue?] {
            let request = try serialized(.get, parameters, at: "http://h/p")
            #expect(request.url.absoluteString == "http://h/p")
            #expect(request.body == nil)
            #expect(request.headers.isEmpty)
        }
    }

    @Test func `case 197: POST of an empty array has an empty body`() throws {
        #expect(try serialized(.post, ["a": []]).bodyText?.isEmpty == true)
    }

    static let urls: [FormVector<(url: String, parameters: JSONValue)>] = [
        .init("220", ("http://h/p?x=1", ["a": 2]), "http://h/p?x=1&a=2"),
        .init("221", ("http://h/p?", ["a": 2]), "http://h/p?a=2"),
        .init(
            "238",
            ("https://example.com/?baz=qux", ["foo": "bar"]),
            "https://example.com/?baz=qux&foo=bar"
        ),
        .init(
            "268",
            ("https://example.com/movie?hd=%5B1%5D", ["+foo+": "+bar+"]),
            "https://example.com/movie?hd=%5B1%5D&%2Bfoo%2B=%2Bbar%2B"
        ),
        .init("X6", ("http://h/p#f", ["a": 1]), "http://h/p?a=1#f"),
        .init("X6", ("http://h/p?x=1#f?g", ["a": 1]), "http://h/p?x=1&a=1#f?g"),
        .init("X6", ("http://h/p?#", ["a": 1]), "http://h/p?a=1#"),
        .init("no case", ("http://h/p?x=1&", ["a": 1]), "http://h/p?x=1&a=1"),
        .init("no case", ("http://h", ["a": 1]), "http://h?a=1"),
        .init("no case", ("http://h/%7Eq/%2f?b=%2f+%20%e9", ["a": 1]), "http://h/%7Eq/%2f?b=%2f+%20%e9&a=1"),
        .init(
            "no case",
            ("http://u:p@[::1]:8080/a;b=c,d?x", ["a": [nil]]),
            "http://u:p@[::1]:8080/a;b=c,d?x&a%5B%5D"
        ),
    ]

    @Test(arguments: urls)
    func `cases 220, 221, 238, 268: the query goes behind what the caller wrote and before the fragment`(
        vector: FormVector<(url: String, parameters: JSONValue)>
    ) throws {
        let request = try serialized(.get, vector.input.parameters, at: vector.input.url)
        #expect(request.url.absoluteString == vector.output)
    }

    @Test func `case 268: brackets in the caller's own query do not stop the request`() throws {
        let request = try serialized(.get, ["+foo+": "+bar+"], at: "https://example.com/movie?hd=[1]")
        #expect(request.url.query() == "hd=%5B1%5D&%2Bfoo%2B=%2Bbar%2B")
    }

    @Test func `a URL relative to a base is resolved before the query is added`() throws {
        let base = try #require(URL(string: "http://h/v1/"))
        var request = HTTPRequest(url: try #require(URL(string: "foo?x=1", relativeTo: base)))
        try FormRequestSerializer().serialize(["a": 1], into: &request)
        #expect(request.url.absoluteString == "http://h/v1/foo?x=1&a=1")
    }

    @Test(arguments: [
        "http://日本.jp/ü?ä#ö", "http://h/a b?c d#e f", "http://h/a|b^c`d{e}?f|g^h`i{j}", "http://h/?a\"b<c>d",
        "http://[fe80::1%25eth0]:80/", "http://h/100%?50%", "http://user:pa ss@h/", "http://h:80?a=[b]",
        "http://h/;,:@&=+$",
    ])
    func `every URL that could be made can carry a query`(text: String) throws {
        let url = try #require(URL(string: text))
        let request = try serialized(.get, ["n": "v"], at: text)
        let parts = url.absoluteString.split(separator: "#", maxSplits: 1)
        let separator = parts[0].contains("?") ? "&" : "?"
        let fragment = parts.count == 2 ? "#" + parts[1] : ""
        #expect(request.url.absoluteString == parts[0] + separator + "n=v" + fragment)
    }

    @Test(arguments: [HTTPMethod.delete, .head, "delete"])
    func `case 223: DELETE and HEAD carry the pairs in the URL`(method: HTTPMethod) throws {
        let request = try serialized(method, ["a": 1], at: "http://h/p")
        #expect(request.url.absoluteString == "http://h/p?a=1")
        #expect(request.body == nil)
        #expect(request.headers.isEmpty)
    }

    @Test(arguments: [HTTPMethod.put, .patch, "QUERY"])
    func `case 224: PUT, PATCH and unknown methods carry the pairs in the body`(method: HTTPMethod) throws {
        let request = try serialized(method, ["a": 1])
        #expect(request.bodyText == "a=1")
        #expect(request.headers["Content-Type"] == Self.formType)
    }

    @Test func `case 226: the caller's Content-Type wins`() throws {
        let request = try serialized(.post, ["a": 1], headers: ["content-type": "text/plain"])
        #expect(request.headers[values: "Content-Type"] == ["text/plain"])
        #expect(request.bodyText == "a=1")
    }

    @Test func `case 271: POST sorts the pairs of its body`() throws {
        let request = try serialized(.post, ["foo": 1, "bar": 2])
        #expect(request.bodyText == "bar=2&foo=1")
    }

    @Test func `case 272: POST can carry the pairs in the URL`() throws {
        var serializer = FormRequestSerializer()
        serializer.methodsEncodingParametersInURL.insert(.post)
        let request = try serialized(.post, ["foo": 1, "bar": 2], by: serializer)
        #expect(request.url.query() == "bar=2&foo=1")
        #expect(request.headers.isEmpty)
        #expect(request.body == nil)
    }

    @Test func `case 175: the caller's own function makes the query`() throws {
        var serializer = FormRequestSerializer()
        serializer.customQuery = { parameters, _ in
            guard case .object(let members) = parameters else { return "" }
            return members.keys.map { "\($0)**value" }.joined()
        }
        #expect(try serialized(.get, ["key": "value"], by: serializer).url.query() == "key**value")
        #expect(try serialized(.post, ["key": "value"], by: serializer).bodyText == "key**value")
    }

    @Test func `case 176: an error of the caller's own function comes out as it is`() throws {
        struct TestDomain: Error, Equatable { let code: Int }
        var serializer = FormRequestSerializer()
        serializer.customQuery = { _, _ in throw TestDomain(code: 0) }
        #expect {
            try serialized(.get, [:], by: serializer)
        } throws: { error in
            guard case SerializationError.custom(let underlying) = error else { return false }
            return underlying as? TestDomain == TestDomain(code: 0)
        }
        #expect(try serialized(.get, nil, by: serializer).url.absoluteString == "http://example.com")
    }

    @Test(arguments: ["a b", "a=1\r\nX: y", "a#b", "a\u{0}", "é", "%zz"])
    func `report 63: what may not stand in a URL is refused when a function wrote it`(text: String) {
        var serializer = FormRequestSerializer()
        serializer.customQuery = { _, _ in text }
        #expect {
            try serialized(.get, [:], by: serializer)
        } throws: { error in
            guard case SerializationError.invalidRequest(let message) = error else { return false }
            return !message.contains(text)
        }
    }

    @Test func `a serializer is a value that keeps its options`() throws {
        var first = FormRequestSerializer()
        first.boolStyle = .literal
        var second = first
        second.boolStyle = .numeric
        #expect(try first.query(from: ["a": true]) == "a=true")
        #expect(try second.query(from: ["a": true]) == "a=1")
    }
}
