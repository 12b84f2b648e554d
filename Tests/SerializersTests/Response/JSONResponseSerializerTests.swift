import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite("JSON responses") struct JSONResponseSerializerTests {
    private func value(
        _ response: HTTPResponse,
        _ serializer: JSONResponseSerializer = .json
    ) throws(SerializationError) -> JSONValue {
        try serializer.serialize(response)
    }

    /// The errors from the top to the lowest, each as a word.
    private func errors(_ response: HTTPResponse, _ serializer: JSONResponseSerializer = .json) -> [String] {
        var words: [String] = []
        do {
            _ = try serializer.serialize(response)
        } catch {
            var next: SerializationError? = error
            while let current = next {
                switch current {
                case .unacceptableStatus(let status, let underlying):
                    words.append("status \(status)")
                    next = underlying
                case .unacceptableContentType(let type, let underlying):
                    words.append("type \(type ?? "none")")
                    next = underlying
                case .malformedJSON:
                    words.append("malformed")
                    next = nil
                case .unreadableText:
                    words.append("unreadable")
                    next = nil
                default:
                    words.append("other")
                    next = nil
                }
            }
        }
        return words
    }

    @Test func `case 428: application/json is read`() throws {
        #expect(try value(makeResponse(type: "application/json", #"{"foo":"bar"}"#)) == ["foo": "bar"])
    }

    @Test(arguments: ["text/javascript", "text/json", "Application/JSON; charset=utf-8"])
    func `case 430: the other JSON types are read`(type: String) throws {
        #expect(try value(makeResponse(type: type, "[1]")) == [1])
    }

    @Test func `case 431: a type that is not standard is refused`() throws {
        #expect(errors(try makeResponse(type: "nonstandard/json", "{}")) == ["type nonstandard/json"])
    }

    @Test func `case 433: a broken text is an error`() throws {
        #expect(errors(try makeResponse(type: "text/json", "{invalid}")) == ["malformed"])
    }

    @Test func `case 434: an empty body is null`() throws {
        #expect(try value(makeResponse(type: "text/json")) == .null)
    }

    @Test func `case 436: nulls are removed when that is asked for`() throws {
        let text = #"{"key":"value","nullkey":null,"array":[{"subnullkey":null}],"arrayWithNulls":[null]}"#
        let serializer = JSONResponseSerializer(removesKeysWithNullValues: true)
        let result = try value(makeResponse(type: "text/json", text), serializer)
        #expect(result == ["key": "value", "array": [[:]], "arrayWithNulls": []])
    }

    @Test func `case 437: a copy keeps every setting`() {
        var serializer = JSONResponseSerializer(removesKeysWithNullValues: true, replacesInvalidBytes: true)
        serializer.validation.acceptableStatusCodes = [100]
        serializer.validation.acceptableContentTypes = ["test/type"]
        let copy = serializer
        serializer = .json
        #expect(copy.removesKeysWithNullValues)
        #expect(copy.replacesInvalidBytes)
        #expect(copy.validation.acceptableStatusCodes == [100])
        #expect(copy.validation.acceptableContentTypes == ["test/type"])
    }

    @Test func `case 439: a serializer is equal after it was encoded and decoded`() throws {
        var serializer = JSONResponseSerializer(removesKeysWithNullValues: true)
        serializer.validation.acceptableStatusCodes = nil
        for original in [serializer, .json] {
            let archive = try JSONEncoder().encode(original)
            #expect(try JSONDecoder().decode(JSONResponseSerializer.self, from: archive) == original)
        }
    }

    @Test(arguments: ["  ", "\r\n"])
    func `case 440: only exactly one space counts as nothing`(body: String) throws {
        #expect(errors(try makeResponse(type: "text/json", body)) == ["malformed"])
    }

    @Test func `case 442: a bad status stands on top of a broken text`() throws {
        #expect(errors(try makeResponse(404, type: "text/json", "oops")) == ["status 404", "malformed"])
    }

    @Test func `case 443: a bad status stands on top of a bad type, and nothing is read`() throws {
        #expect(errors(try makeResponse(500, type: "text/html", "<h1>")) == ["status 500", "type text/html"])
    }

    @Test func `a bad status with a good text is alone`() throws {
        #expect(errors(try makeResponse(404, type: "text/json", "{}")) == ["status 404"])
    }

    @Test func `case 416: the refused type is named`() throws {
        #expect(errors(try makeResponse(type: "text/html", "<html>")) == ["type text/html"])
    }

    @Test func `case 418: a wrong type without a body is null`() throws {
        #expect(try value(makeResponse(type: "text/html")) == .null)
    }

    @Test func `case 419: a wrong type without a body adds nothing to a bad status`() throws {
        #expect(errors(try makeResponse(404, type: "text/html")) == ["status 404"])
    }

    @Test func `case 427: a body without a type is refused`() throws {
        #expect(errors(try makeResponse(200, "{}")) == ["type none"])
    }

    @Test func `case 445: nulls stay by default`() throws {
        #expect(try value(makeResponse(type: "text/json", #"{"a":null}"#)) == ["a": nil])
    }

    @Test func `case 446: nested nulls are removed`() throws {
        let text = #"{"a":{"b":null,"c":[1,null,{"d":null}]}}"#
        let serializer = JSONResponseSerializer(removesKeysWithNullValues: true)
        #expect(try value(makeResponse(type: "text/json", text), serializer) == ["a": ["c": [1, [:]]]])
    }

    private var wrapperTypes: JSONResponseSerializer {
        var serializer = JSONResponseSerializer.json
        serializer.validation.acceptableContentTypes = [
            "application/json", "application/xml", "text/xml", "text/json", "text/plain", "text/javascript",
            "text/html",
        ]
        return serializer
    }

    @Test func `case 454: with a longer list of types JSON in HTML's clothes is read`() throws {
        #expect(try value(makeResponse(type: "text/html", #"{"a":1}"#), wrapperTypes) == ["a": 1])
    }

    @Test func `case 455: with a longer list of types a page is a broken text`() throws {
        #expect(errors(try makeResponse(type: "text/html", "<html>"), wrapperTypes) == ["malformed"])
    }

    @Test func `report 1: a page instead of JSON is told by its type`() throws {
        #expect(errors(try makeResponse(type: "text/html", "<b>x</b>")) == ["type text/html"])
    }

    @Test func `report 3: letters' case does not matter and plain text is accepted only when added`() throws {
        #expect(try value(makeResponse(type: "Application/JSON; charset=UTF-8", #"{"a":1}"#)) == ["a": 1])
        let plain = try makeResponse(type: "text/plain", #"{"a":1}"#)
        #expect(errors(plain) == ["type text/plain"])
        var serializer = JSONResponseSerializer.json
        serializer.validation.acceptableContentTypes?.insert("text/plain")
        #expect(try value(plain, serializer) == ["a": 1])
    }

    @Test func `report 5: the status is the first thing that the caller learns`() throws {
        let response = try makeResponse(404, type: "application/json", "not json")
        #expect(errors(response) == ["status 404", "malformed"])
    }

    @Test func `report 7: responses without content are null`() throws {
        #expect(try value(makeResponse(204)) == .null)
        #expect(try value(makeResponse(type: "application/json")) == .null)
        #expect(try value(makeResponse(type: "application/json", " ")) == .null)
    }

    @Test func `report 9: a body that is not UTF-8 is never a silent nothing`() throws {
        let body = Array("{\"a\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        let response = try makeResponse(type: "application/json", body)
        #expect(errors(response) == ["malformed"])
        let lenient = JSONResponseSerializer(replacesInvalidBytes: true)
        #expect(try value(response, lenient) == ["a": "\u{FFFD}("])
    }

    @Test func `case 586: a small object is read`() throws {
        #expect(try value(makeResponse(type: "text/json", #"{"json":true}"#)) == ["json": true])
    }

    @Test func `case 587: a text cut short is an error`() throws {
        #expect(errors(try makeResponse(type: "text/json", #"{"json":"#)) == ["malformed"])
    }

    @Test func `case 589: 204, 205 and HEAD without content are null`() throws {
        #expect(try value(makeResponse(204)) == .null)
        #expect(try value(makeResponse(205)) == .null)
        #expect(try value(makeResponse(200, type: "text/json", method: .head)) == .null)
    }
}
