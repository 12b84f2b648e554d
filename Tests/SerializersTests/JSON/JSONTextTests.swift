import FoundationEssentials
import Testing

@testable import Serializers

/// Strings are made of bytes that nothing checks again: what is taken for UTF-8 must be that.
@Suite("UTF-8 in JSON strings") struct JSONTextTests {
    private static let seconds: [UInt8] = [
        0x00, 0x22, 0x41, 0x5C, 0x7F, 0x80, 0x81, 0x8F, 0x90, 0x91, 0x9F, 0xA0, 0xAF, 0xB0, 0xBF, 0xC0, 0xE0,
        0xFF,
    ]
    private static let others: [UInt8] = [0x41, 0x80, 0xBF, 0xC0]

    /// How many bytes the scalar at the beginning has, as the standard library sees it; 0 when there is none.
    private func expected(_ bytes: [UInt8]) -> Int {
        for length in 2...4 where bytes.count >= length {
            if let text = String(validating: bytes[..<length], as: UTF8.self), text.unicodeScalars.count == 1
            {
                return length
            }
        }
        return 0
    }

    @Test(arguments: 0x80...0xFF as ClosedRange<UInt8>)
    func `a scalar is told as the standard library tells it`(lead: UInt8) {
        for second in Self.seconds {
            for third in Self.others {
                for fourth in Self.others {
                    let bytes = [lead, second, third, fourth]
                    for count in 1...4 {
                        let prefix = Array(bytes[..<count])
                        let length = prefix.withUnsafeBufferPointer { $0.lengthOfUTF8Scalar(at: 0) }
                        #expect(length == expected(prefix), "\(prefix)")
                    }
                    // More bytes behind change nothing.
                    let longer = bytes + [0x80, 0x80, 0x80, 0x80]
                    let length = longer.withUnsafeBufferPointer { $0.lengthOfUTF8Scalar(at: 0) }
                    #expect(length == expected(bytes), "\(longer)")
                }
            }
        }
    }

    /// Strings are looked through in blocks: whatever ends one may stand at each place of a block.
    @Test(arguments: 0..<40) func `a special byte is found at every place`(place: Int) throws {
        let filler = [UInt8](repeating: 0x7E, count: place)
        let rest = [UInt8](repeating: 0x21, count: 40 - place)
        func read(_ middle: [UInt8]) throws -> JSONValue {
            try JSONValue(parsing: Data([0x22] + filler + middle + rest + [0x22]))
        }
        let before = String(decoding: filler, as: UTF8.self), after = String(decoding: rest, as: UTF8.self)
        for plain in [
            "\u{7f}", "[", "]", "!", "#", "é", "你", "😃", "😃é你\u{10FFFF}\u{80}\u{800}\u{FFFF}\u{10000}",
        ] {
            #expect(try read(Array(plain.utf8)) == .string(before + plain + after))
        }
        #expect(try read(Array("\\\"".utf8)) == .string(before + "\"" + after))
        #expect(try read(Array("\\\\é\\n".utf8)) == .string(before + "\\é\n" + after))
        for byte in [0x00, 0x1F, 0x0A, 0x80, 0xBF, 0xC1, 0xF5, 0xFF] as [UInt8] {
            #expect(throws: SerializationError.self) { try read([byte]) }
            do { _ = try read([byte]) } catch SerializationError.malformedJSON(_, let offset) {
                #expect(offset == place + 1)
            }
        }
        let early = Data([0x22] + filler + [0x22] + rest + [0x22])
        do {
            _ = try JSONValue(parsing: early)
            Issue.record("a quote was not seen")
        } catch {
            guard case .malformedJSON(_, place + 2) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func `strings are as good as those that the standard library checks`() throws {
        for text in ["é", "plain", "a longer text of more than fifteen bytes", "你好, this is a longer text 😃"]
        {
            let read = try #require(try JSONValue(parsing: "[\"\(text)\"]")[0]?.string)
            #expect(
                read == text && read.hashValue == text.hashValue && Array(read.utf16) == Array(text.utf16)
            )
            #expect(read.count == text.count && read + "é" == text + "é")
        }
    }

    @Test(arguments: [
        "123456789012345678", "1234567890123456789", "12345678901234567890", "-123456789012345678",
        "-1234567890123456789", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
        "18446744073709551616", "0.1", "-0.0", "123456789.123456789", "123456789.1234567890",
        "0.000000000000000001",
        "0.00000000000000000001", "900719925474099.3", "9007199254740993.0", "9007199254740992.5", "1.5e3",
        "15E-1",
        "-0", "0", "179769313486231570000000000000000000000.5", "1.7976931348623157e308", "4.9e-324",
        "1e-400",
    ])
    func `numbers of any length are the nearest there are`(text: String) throws {
        let expected: JSONValue
        if let whole = Int64(text) {
            expected = .int(whole)
        } else if let whole = UInt64(text) {
            expected = .uint(whole)
        } else {
            expected = .double(try #require(Double(text)))
        }
        // Alone, behind and before something: a number is read by another way at the end of the text.
        #expect(try JSONValue(parsing: text) == expected)
        #expect(try JSONValue(parsing: "[\(text),\(text) ]") == [expected, expected])
    }
}
