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
}
