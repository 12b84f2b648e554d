import Serializers
import Testing

@Suite struct FormEscapingTests {
    static let chinese = "一二三四五六七八九十"
    static let escapedChinese =
        "%E4%B8%80%E4%BA%8C%E4%B8%89%E5%9B%9B%E4%BA%94%E5%85%AD%E4%B8%83%E5%85%AB%E4%B9%9D%E5%8D%81"

    static let vectors: [FormVector<JSONValue>] = [
        .init(
            "173",
            ["key": .string(" :#[]@!$&'()*+,;=/?")],
            "key=%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?"
        ),
        .init(
            "178",
            ["k": .string(":#[]@!$&'()*+,;=?/")],
            "k=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D?/"
        ),
        .init(
            "179",
            ["test": .string("!" + String(repeating: "👴🏿👷🏻👮🏽", count: 5))],
            "test=%21"
                + String(
                    repeating: "%F0%9F%91%B4%F0%9F%8F%BF%F0%9F%91%B7%F0%9F%8F%BB%F0%9F%91%AE%F0%9F%8F%BD",
                    count: 5
                )
        ),
        .init("205", ["a b": .string("c d")], "a%20b=c%20d"),
        .init("206", ["q": .string("a+b")], "q=a%2Bb"),
        .init("208", ["q": .string("100%")], "q=100%25"),
        .init("209", ["q": .string("~-._")], "q=~-._"),
        .init("211", ["q": .string("\t\n\r")], "q=%09%0A%0D"),
        .init("212", ["k": .string("\u{0}\u{7F}")], "k=%00%7F"),
        .init("214", ["q": .string("\u{E9}")], "q=%C3%A9"),
        .init("215", ["q": .string("e\u{301}")], "q=e%CC%81"),
        .init("217", ["q": .string("🇨🇳")], "q=%F0%9F%87%A8%F0%9F%87%B3"),
        .init("218", ["u": .string("http://a.b/c?d=e&f=g#h")], "u=http%3A//a.b/c?d%3De%26f%3Dg%23h"),
        .init(
            "227",
            ["q": .string(String(repeating: "一", count: 300))],
            "q=" + String(repeating: "%E4%B8%80", count: 300)
        ),
        .init(
            "254",
            ["reserved": .string(":#[]@!$&'()*+,;=")],
            "reserved=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D"
        ),
        .init("256", ["numbers": .string("0123456789")], "numbers=0123456789"),
        .init(
            "257",
            ["lowercase": .string("abcdefghijklmnopqrstuvwxyz")],
            "lowercase=abcdefghijklmnopqrstuvwxyz"
        ),
        .init(
            "259",
            ["illegal": .string(" \"#%<>[]\\^`{}|")],
            "illegal=%20%22%23%25%3C%3E%5B%5D%5C%5E%60%7B%7D%7C"
        ),
        .init("262", ["foo": .string("/bar/baz/qux")], "foo=/bar/baz/qux"),
        .init("263", [" foo ": .string(" bar ")], "%20foo%20=%20bar%20"),
        .init("265", ["percent": .string("%25")], "percent=%2525"),
        .init(
            "269",
            ["chinese": .string(String(repeating: chinese, count: 2000))],
            "chinese=" + repeatedEscapes(2000)
        ),
        .init("report 13", ["q": .string("a+b c")], "q=a%2Bb%20c"),
        .init(
            "report 15",
            ["q": .string(String(repeating: chinese, count: 2000))],
            "q=" + repeatedEscapes(2000)
        ),
        .init("report 15, U+FFFD", ["q": .string("\u{FFFD}")], "q=%EF%BF%BD"),
    ]

    static func repeatedEscapes(_ count: Int) -> String {
        String(repeating: escapedChinese, count: count)
    }

    @Test(arguments: vectors)
    func `cases 173–218, 227, 254–269, reports 13, 15: all but the unreserved, slash and ? is escaped`(
        vector: FormVector<JSONValue>
    ) throws {
        #expect(try FormRequestSerializer().query(from: vector.input) == vector.output)
    }

    @Test func `case 260: ampersands are escaped in names and values`() throws {
        #expect(
            try FormRequestSerializer().query(from: ["foo&bar": "baz&qux", "foobar": "bazqux"])
                == "foo%26bar=baz%26qux&foobar=bazqux"
        )
    }

    @Test func `case 266: other scripts are escaped as UTF-8`() throws {
        let parameters: JSONValue = [
            "french": "français", "japanese": "日本語", "arabic": "العربية", "emoji": "😃",
        ]
        #expect(
            try FormRequestSerializer().query(from: parameters)
                == "arabic=%D8%A7%D9%84%D8%B9%D8%B1%D8%A8%D9%8A%D8%A9&emoji=%F0%9F%98%83"
                + "&french=fran%C3%A7ais&japanese=%E6%97%A5%E6%9C%AC%E8%AA%9E"
        )
    }

    @Test func `every byte that is escaped is escaped with two digits in upper case`() throws {
        for scalar in (0...0x7F).compactMap(Unicode.Scalar.init) {
            let text = try FormRequestSerializer().query(from: ["": .string(String(scalar))]).dropFirst()
            let isPlain = scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            if isPlain || "-._~/?".unicodeScalars.contains(scalar) {
                #expect(String(text) == String(scalar))
            } else {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                #expect(text == "%" + (digits.count == 1 ? "0" : "") + digits)
            }
        }
    }
}
