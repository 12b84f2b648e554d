import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite("Character sets of JSON") struct JSONCharsetTests {
    private func value(_ body: [UInt8], charset: String?) throws -> JSONValue {
        let type = "application/json" + (charset.map { "; charset=\($0)" } ?? "")
        return try JSONResponseSerializer.json.serialize(makeResponse(type: type, body))
    }

    @Test func `the header's character set is honored`() throws {
        let quoted: (_ bytes: [UInt8]) -> [UInt8] = { [0x22] + $0 + [0x22] }
        #expect(try value(quoted([0xC4, 0xE3]), charset: "GBK") == "你")
        #expect(try value(quoted([0xE9]), charset: "iso-8859-1") == "é")
        // The second byte of this character is a backslash in ASCII.
        #expect(try value(quoted([0x95, 0x5C]), charset: "Shift_JIS") == "表")
        #expect(try value(quoted([0x5C, 0x6E]), charset: "Shift_JIS") == "\n")
    }

    @Test func `UTF-16 and UTF-32 are told by their mark`() throws {
        let text = #"{"a":"é"}"#
        let units: [(low: UInt8, high: UInt8)] = text.utf16.map { (UInt8($0 & 0xFF), UInt8($0 >> 8)) }
        let little: [UInt8] = units.reduce(into: [0xFF, 0xFE]) { $0 += [$1.low, $1.high] }
        #expect(try value(little, charset: nil) == ["a": "é"])
        #expect(try value(little, charset: "utf-16") == ["a": "é"])
        let big: [UInt8] = units.reduce(into: [0xFE, 0xFF]) { $0 += [$1.high, $1.low] }
        #expect(try value(big, charset: nil) == ["a": "é"])
    }

    @Test func `a name that is not known is taken for UTF-8, which is checked`() throws {
        #expect(try value(Array(#""é""#.utf8), charset: "binary") == "é")
        #expect(throws: SerializationError.self) { try value([0x22, 0xE9, 0x22], charset: "binary") }
    }

    @Test func `bytes that are no text of the header's character set are an error`() {
        #expect {
            try value([0x22, 0xFF, 0x22], charset: "gbk")
        } throws: { error in
            guard case SerializationError.unreadableText("gbk", 1) = error else { return false }
            return true
        }
    }

    @Test func `a text that claims to be UTF-7 is read as what JSON is`() throws {
        #expect(try value(Array(#"["+ADw-","+ACI-"]"#.utf8), charset: "utf-7") == ["+ADw-", "+ACI-"])
    }
}
