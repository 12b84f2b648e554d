import Testing

@testable import NetManager

@Suite struct URLReferenceTests {
    /// RFC 3986, sections 5.4.1 and 5.4.2, over the base http://a/b/c/d;p?q.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
        ("x/\u{301}y/../z", "http://a/b/c/x/z"), ("/\u{301}y/../z", "http://a/z"),
    ])
    func `references resolve as in RFC 3986`(reference: String, expected: String) {
        let base = URLReference("http://a/b/c/d;p?q")
        #expect(URLReference(reference).resolved(against: base).text == expected)
    }

    @Test(arguments: [
        ("http://h/x", "http", "h", 80), ("HTTPS://H:8443", "https", "h", 8443),
        ("https://u:p@h/", "https", "h", 443),
        ("http://[::1]:81/", "http", "[::1]", 81), ("http://[::1]/", "http", "[::1]", 80),
        ("http://u@x:1@h:2/", "http", "h", 2),
    ])
    func `an origin is scheme, host and port`(url: String, scheme: String, host: String, port: UInt16) {
        #expect(URLReference(url).origin == URLReference.Origin(scheme: scheme, host: host, port: port))
    }

    @Test func `what has no host has no origin`() {
        #expect(URLReference("mailto:a@b").origin == nil)
        #expect(URLReference("/x").origin == nil)
        #expect(URLReference("http:///x").origin == nil)
    }

    @Test(arguments: [
        "http://h", "http://h/", "http://h?x", "https://h:1/a?b=c", "http://h:65535/",
        "https://127.0.0.1:8080/x;y",
        "http://h:080/", "https://H.example/%41#f",
    ])
    func `what is said of a URL at a glance is what taking it apart finds`(text: String) throws {
        let checked = try RequestURL.checkedURL(text, base: nil)
        #expect(checked.url.absoluteString == text)
        #expect(checked.isSecure == text.hasPrefix("https"))
        #expect(try RequestRules.CheckedURL(checked.url).isSecure == checked.isSecure)
    }
}
