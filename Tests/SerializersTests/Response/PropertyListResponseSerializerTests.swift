import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite("Property lists of responses") struct PropertyListResponseSerializerTests {
    private let type = "application/x-plist"
    private let text = "<plist version=\"1.0\"><dict><key>foo</key><string>bar</string></dict></plist>"

    /// The error as a word.
    private func failure<T: Decodable & Sendable>(_ result: T.Type, _ body: [UInt8]) throws -> String {
        let response = try makeResponse(type: type, body)
        do {
            _ = try PropertyListResponseSerializer(result).serialize(response)
            return "none"
        } catch .malformedPropertyList {
            return "malformed"
        } catch .undecodable(let type, _) {
            return "undecodable \(type)"
        } catch .emptyBody {
            return "empty"
        } catch {
            return "other"
        }
    }

    @Test func `case 467: a property list is read`() throws {
        let response = try makeResponse(type: type, text)
        let serializer = PropertyListResponseSerializer([String: String].self)
        #expect(try serializer.serialize(response) == ["foo": "bar"])
    }

    @Test func `a property list becomes a tree`() throws {
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist><dict><key>a</key><array><integer>1</integer><true/><real>1.5</real><string>1</string></array>
            </dict></plist>
            """
        let tree = try PropertyListResponseSerializer(JSONValue.self).serialize(
            makeResponse(type: type, list)
        )
        #expect(tree == ["a": [1, true, 1.5, "1"]])
    }

    @Test func `the binary form is read`() throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let response = try makeResponse(type: type, encoder.encode(["a": [1, 2]]))
        #expect(
            try PropertyListResponseSerializer([String: [Int]].self).serialize(response) == ["a": [1, 2]]
        )
    }

    @Test func `case 469: 204 is nil`() throws {
        let serializer = PropertyListResponseSerializer([String: String]?.self)
        #expect(try serializer.serialize(makeResponse(204)) == nil)
    }

    @Test func `case 470: a copy keeps its settings`() {
        var serializer = PropertyListResponseSerializer(Int.self)
        serializer.validation = ResponseValidation(
            acceptableStatusCodes: [100],
            acceptableContentTypes: ["a/b"]
        )
        let copy = serializer
        #expect(copy.validation == serializer.validation)
        var request = PropertyListRequestSerializer()
        request.format = .binary
        let other = request
        #expect(other.format == .binary)
    }

    @Test func `a broken list, one of another shape and an empty body are told apart`() throws {
        #expect(try failure(Int.self, Array("<plist><dict><key>a</key></dict></plist>".utf8)) == "malformed")
        #expect(try failure(Int.self, Array(text.utf8)) == "undecodable Int")
        #expect(try failure(Int.self, []) == "empty")
    }

    @Test func `a list nested as deep as allowed is read, a deeper one refused without an overflow`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(
                ("<plist>" + String(repeating: "<array>", count: depth)
                    + String(repeating: "</array>", count: depth)
                    + "</plist>").utf8
            )
        }
        #expect(try failure(JSONValue.self, nested(JSONValue.maximumDepth)) == "none")
        #expect(try failure(JSONValue.self, nested(100_000)) == "malformed")
    }

    @Test(arguments: [
        "x", "{ a = b; }", "<plist", "<plist><!-- ",
        "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><true/></plist>",
        "<plist><array <x></array></plist>", "</array><plist/>", "<plist>\0</plist>",
        "<plist><array><!ELEMENT x></array></plist>",
    ])
    func `what the decoder might read in another way is refused`(text: String) throws {
        #expect(try failure(JSONValue.self, Array(text.utf8)) == "malformed")
    }

    @Test func `comments, instructions and character data may hold tags`() throws {
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <!-- </array> --><plist version="1.0"><array><!-- </array> --><string><![CDATA[</string>]]></string>
            </array></plist>
            """
        let tree = try PropertyListResponseSerializer(JSONValue.self).serialize(
            makeResponse(type: type, list)
        )
        #expect(tree == ["</string>"])
    }

    /// A binary list of objects, with offsets and references of four bytes.
    private func binary(_ objects: [[UInt8]]) -> [UInt8] {
        func bigEndian(_ value: Int, size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - $0))) }
        }
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += bigEndian(bytes.count, size: 4)
            bytes += object
        }
        let table = bytes.count
        bytes += offsets
        bytes += [0, 0, 0, 0, 0, 0, 4, 4]
        return bytes + bigEndian(objects.count, size: 8) + bigEndian(0, size: 8) + bigEndian(table, size: 8)
    }

    private func array(of references: Int...) -> [UInt8] {
        [0xA0 | UInt8(references.count)]
            + references.flatMap { reference in
                [0, 0, UInt8(reference >> 8), UInt8(reference & 0xFF)] as [UInt8]
            }
    }

    @Test func `a binary list that contains itself, is too deep or repeats itself without end is refused`()
        throws
    {
        #expect(try failure(JSONValue.self, binary([array(of: 1), [0x09]])) == "none")
        #expect(try failure(JSONValue.self, binary([array(of: 0)])) == "malformed")
        #expect(try failure(JSONValue.self, binary([array(of: 1), array(of: 0)])) == "malformed")
        let limit = JSONValue.maximumDepth
        let deepest = (1..<limit).map { array(of: $0) } + [[0xA0]]
        #expect(try failure(JSONValue.self, binary(deepest)) == "none")
        #expect(
            try failure(JSONValue.self, binary((1...limit).map { array(of: $0) } + [[0xA0]])) == "malformed"
        )
        let doubling = (1...60).map { array(of: $0, $0) } + [[0xA0]]
        #expect(try failure(JSONValue.self, binary(doubling)) == "malformed")
        #expect(try failure(JSONValue.self, binary([array(of: 1, 1, 1), [0x10, 0x07]])) == "none")
    }

    @Test func `a binary list with places outside of it is refused`() throws {
        #expect(try failure(JSONValue.self, binary([array(of: 7)])) == "malformed")
        #expect(try failure(JSONValue.self, binary([[0xA9, 0, 0]])) == "malformed")
        #expect(try failure(JSONValue.self, Array("bplist00".utf8)) == "malformed")
        #expect(
            try failure(JSONValue.self, Array("bplist00".utf8) + Array(repeating: 0xFF, count: 40))
                == "malformed"
        )
    }

    @Test func `a binary list with many elements, whose count is written out, is read and looked into`()
        throws
    {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let numbers = Array(0..<300)
        let list = try encoder.encode(["numbers": numbers])
        let read = try PropertyListResponseSerializer([String: [Int]].self).serialize(
            makeResponse(type: type, list)
        )
        #expect(read == ["numbers": numbers])

        let references = (1...20).flatMap { [0, 0, 0, UInt8($0)] as [UInt8] }
        let scalars = Array(repeating: [0x09] as [UInt8], count: 20)
        #expect(try failure(JSONValue.self, binary([[0xAF, 0x10, 20] + references] + scalars)) == "none")
        // A count that is no number, of too many bytes, or beyond the list.
        for count in [[0x20, 20], [0x14, 20], [0x11, 0xFF, 0xFF], [0x13, 0xFF]] as [[UInt8]] {
            let broken = binary([[0xAF] + count + references] + scalars)
            #expect(try failure(JSONValue.self, broken) == "malformed", "\(count)")
        }
        let itself = (0..<20).flatMap { _ in [0, 0, 0, 0] as [UInt8] }
        #expect(try failure(JSONValue.self, binary([[0xAF, 0x10, 20] + itself])) == "malformed")
    }
}
