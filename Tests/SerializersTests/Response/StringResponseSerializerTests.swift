import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite("Text responses") struct StringResponseSerializerTests {
    /// "random data" in UTF-32 with its mark.
    private static let utf32: [UInt8] =
        [0xFF, 0xFE, 0, 0] + "random data".unicodeScalars.flatMap { [UInt8($0.value), 0, 0, 0] as [UInt8] }

    private func text(
        _ body: [UInt8],
        type: String? = nil,
        _ serializer: StringResponseSerializer = .string
    ) throws -> String {
        try serializer.serialize(makeResponse(type: type, body))
    }

    /// Where reading stops, as "charset at offset", or "unknown charset".
    private func failure(
        _ body: [UInt8],
        type: String? = nil,
        _ serializer: StringResponseSerializer = .string
    ) throws -> String {
        let response = try makeResponse(type: type, body)
        do {
            return "text: \(try serializer.serialize(response))"
        } catch .unreadableText(let charset, let offset) {
            return "\(charset) at \(offset)"
        } catch .unknownCharset(let name) {
            return "unknown \(name)"
        } catch {
            return "other"
        }
    }

    @Test func `case 580: UTF-8 is read when nothing is said, when asked for, and when the header says so`()
        throws
    {
        let body = Array("random data é".utf8)
        #expect(try text(body) == "random data é")
        #expect(try text(body, StringResponseSerializer(charset: "UTF-8")) == "random data é")
        #expect(try text(body, type: "image/jpeg; charset=utf-8") == "random data é")
        #expect(try text(body, type: #"text/plain; charset="UTF8""#) == "random data é")
    }

    @Test func `case 581: UTF-32 is no UTF-8`() throws {
        #expect(try failure(Self.utf32, StringResponseSerializer(charset: "utf-8")) == "utf-8 at 0")
        #expect(try failure(Self.utf32, type: "image/jpeg; charset=utf-8") == "utf-8 at 0")
    }

    @Test func `case 602: a byte order mark tells the form when nothing else does`() throws {
        #expect(try text(Self.utf32) == "random data")
        #expect(try text([0xFE, 0xFF, 0x4F, 0x60]) == "你")
        #expect(try text([0xFF, 0xFE, 0x60, 0x4F]) == "你")
        #expect(try text([0xEF, 0xBB, 0xBF, 0x61]) == "a")
        #expect(try text([0xEF, 0xBB, 0xBF, 0x61], type: "text/plain; charset=utf-8") == "a")
    }

    @Test func `case 583: an empty body with 200 is an empty text`() throws {
        #expect(try text([]) == "")
    }

    @Test func `case 584: 204, 205 and HEAD are an empty text`() throws {
        #expect(try StringResponseSerializer.string.serialize(makeResponse(204)) == "")
        #expect(try StringResponseSerializer.string.serialize(makeResponse(205)) == "")
        #expect(try StringResponseSerializer.string.serialize(makeResponse(method: .head)) == "")
    }

    @Test func `report 9: the character set of the header is believed`() throws {
        #expect(try text([0xE9], type: "text/plain; charset=iso-8859-1") == "é")
        #expect(try failure([0x61, 0xE9]) == "utf-8 at 1")
    }

    @Test(
        arguments: [
            ("GB2312", [0xC4, 0xE3, 0xBA, 0xC3], "你好"), ("gbk", [0x87, 0xD6], "囍"),
            ("GB18030", [0x94, 0x39, 0xDA, 0x33], "💩"), ("Big5", [0xA7, 0x41, 0xA6, 0x6E], "你好"),
            ("Shift_JIS", [0x93, 0xFA, 0x5C, 0x87, 0x40], "日\\①"), ("EUC-JP", [0xC6, 0xFC], "日"),
            ("EUC-KR", [0xB0, 0xA1, 0x8C, 0x63], "가똠"), ("ISO-8859-15", [0xA4], "€"),
            ("windows-1252", [0x80, 0xE9], "€é"), ("windows-1251", [0xCF], "П"), ("koi8-r", [0xF0], "П"),
            ("ISO-8859-2", [0xB1], "ą"),
            ("ISO-2022-JP", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42], "日"),
            ("UTF-16", [0xFE, 0xFF, 0x00, 0x41], "A"), ("UTF-16", [0xFF, 0xFE, 0x41, 0x00], "A"),
            ("UTF-16", [0x41, 0x00], "A"), ("UTF-16BE", [0xD8, 0x3D, 0xDE, 0x03], "😃"),
            ("UTF-32", [0x00, 0x00, 0xFE, 0xFF, 0x00, 0x01, 0xF6, 0x03], "😃"), ("us-ascii", [0x41], "A"),
        ] as [(String, [UInt8], String)]
    )
    func `every common character set is read`(charset: String, bytes: [UInt8], expected: String) throws {
        #expect(try text(bytes, type: "text/plain; charset=\(charset)") == expected)
        #expect(try text(bytes, type: "text/plain; charset=\(charset.lowercased())") == expected)
        #expect(try text(bytes, StringResponseSerializer(charset: charset)) == expected)
    }

    @Test func `a long text passes through the converter in pieces`() throws {
        let pattern: [UInt8] = [0xC4, 0xE3, 0xBA, 0xC3, 0x61]
        let body = Array(repeatElement(pattern, count: 20_000).joined())
        let expected = String(repeating: "你好a", count: 20_000)
        #expect(try text(body, type: "text/plain; charset=gbk") == expected)
    }

    @Test func `invalid bytes are an error at their offset, or are replaced when asked for`() throws {
        let lenient = StringResponseSerializer(replacesInvalidBytes: true)
        let gbk = "text/plain; charset=gbk"
        #expect(try failure([0x61, 0xC4, 0xE3, 0xFF, 0x62], type: gbk) == "gbk at 3")
        #expect(try text([0x61, 0xC4, 0xE3, 0xFF, 0x62], type: gbk, lenient) == "a你\u{FFFD}b")
        #expect(try failure([0x61, 0xC4], type: gbk) == "gbk at 1")
        #expect(try text([0x61, 0xC4], type: gbk, lenient) == "a\u{FFFD}")
        #expect(try text([0x61, 0xFF, 0x62], lenient) == "a\u{FFFD}b")
        let utf16 = "text/plain; charset=utf-16"
        #expect(try failure([0xFE, 0xFF, 0xDC, 0x00, 0x00, 0x41], type: utf16) == "utf-16 at 2")
        #expect(try text([0xFE, 0xFF, 0xDC, 0x00, 0x00, 0x41], type: utf16, lenient) == "\u{FFFD}A")
        #expect(try failure([0x41, 0x00, 0x42], type: utf16) == "utf-16 at 2")
    }

    @Test(arguments: ["x-unknown", "utf-8//IGNORE", "", "//", "utf-8/../x"])
    func `a character set that is not known is an error, and no option of the converter`(name: String) throws
    {
        #expect(try failure([0x61], StringResponseSerializer(charset: name)).hasPrefix("unknown"))
    }

    @Test(arguments: [
        "utf-7", "UTF-7", "iso-2022-kr", "iso-2022-cn-ext", "hz", "ibm037", "ibm1364", "utf-7-imap", "l9",
    ])
    func `a response cannot choose a character set that is no part of the web`(name: String) throws {
        let markup = Array("+ADw-script+AD4-".utf8)
        #expect(try failure(markup, type: "text/html; charset=\(name)").hasPrefix("unknown"))
    }

    @Test func `the program can choose any character set that the C library has`() throws {
        let markup = Array("+ADw-b+AD4-".utf8)
        let serializer = StringResponseSerializer(charset: "utf-7")
        #expect(try text(markup, type: "text/html; charset=iso-8859-1", serializer) == "<b>")
    }
}
