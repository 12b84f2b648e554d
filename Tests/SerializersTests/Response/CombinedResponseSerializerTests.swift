import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite("Serializers made of others") struct CombinedResponseSerializerTests {
    private struct Refusal: Error {}

    /// What a response may be to these tests.
    private enum Content: Sendable, Equatable {
        case json(JSONValue)
        case bytes(Data)
    }

    private struct FirstByte: ResponseSerializer {
        var validation = ResponseValidation()

        func serialize(_ response: HTTPResponse) throws(SerializationError) -> UInt8 {
            try validation.validate(response)
            guard let byte = response.body.first else { throw .emptyBody }
            return byte
        }
    }

    private func failure<S: ResponseSerializer>(_ serializer: S, _ response: HTTPResponse) -> String {
        do {
            _ = try serializer.serialize(response)
            return "none"
        } catch .unacceptableContentType(let type, _) {
            return "type \(type ?? "none")"
        } catch .unacceptableStatus(let status, _) {
            return "status \(status)"
        } catch .malformedJSON {
            return "malformed"
        } catch .custom(let cause) {
            return cause is Refusal ? "refusal" : "other"
        } catch {
            return "other"
        }
    }

    private let both = CompoundResponseSerializer<Content>([
        JSONResponseSerializer().map { .json($0) }, DataResponseSerializer().map { .bytes($0) },
    ])

    @Test func `case 473: the first serializer that understands the response gives the result`() throws {
        let bytes = DataResponseSerializer(
            validation: ResponseValidation(acceptableContentTypes: ["image/png"])
        )
        let compound = CompoundResponseSerializer<Content>([
            bytes.map { .bytes($0) }, JSONResponseSerializer().map { .json($0) },
        ])
        let response = try makeResponse(type: "application/json", #"{"key":"value"}"#)
        #expect(try compound.serialize(response) == .json(["key": "value"]))
    }

    @Test func `case 475: a copy keeps its serializers in order`() throws {
        let copy = both
        #expect(copy.serializers.count == 2)
        let response = try makeResponse(type: "application/json", "1")
        #expect(try copy.serializers[0].serialize(response) == .json(1))
        #expect(try copy.serializers[1].serialize(response) == .bytes(Data("1".utf8)))
    }

    @Test func `case 476: what nobody else understands is bytes when they stand last`() throws {
        #expect(try both.serialize(makeResponse(type: "text/plain", "x")) == .bytes(Data("x".utf8)))
    }

    @Test func `when all fail the error is that of the one that knew the type`() throws {
        let vendor = ResponseValidation(acceptableContentTypes: ["a/b"])
        let compound = CompoundResponseSerializer<JSONValue>([
            JSONResponseSerializer(validation: vendor), .json, JSONResponseSerializer(validation: vendor),
        ])
        #expect(failure(compound, try makeResponse(type: "text/json", "{")) == "malformed")
        #expect(failure(compound, try makeResponse(type: "text/html", "{")) == "type text/html")
        #expect(failure(compound, try makeResponse(404, type: "text/html", "{")) == "status 404")
        let none = CompoundResponseSerializer<JSONValue>([])
        #expect(failure(none, try makeResponse(type: "text/html", "{")) == "type text/html")
    }

    @Test func `the compound's own validation comes first`() throws {
        var strict = both
        strict.validation.acceptableStatusCodes = [200]
        #expect(failure(strict, try makeResponse(201, type: "application/json", "1")) == "status 201")
    }

    @Test func `case 574: data is the same bytes`() throws {
        #expect(try DataResponseSerializer.data.serialize(makeResponse(200, "data")) == Data("data".utf8))
    }

    @Test func `case 577: data of an empty body with 200 is empty`() throws {
        #expect(try DataResponseSerializer.data.serialize(makeResponse(200)).isEmpty)
    }

    @Test func `case 578: data of 204, 205 and HEAD is empty`() throws {
        for response in [try makeResponse(204), try makeResponse(205), try makeResponse(method: .head)] {
            #expect(try DataResponseSerializer.data.serialize(response).isEmpty)
        }
    }

    @Test func `case 604: a preprocessor that throws fails every serializer`() throws {
        let response = try makeResponse(type: "application/json", "1")
        let fail: @Sendable (HTTPResponse) throws -> HTTPResponse = { _ in throw Refusal() }
        #expect(failure(DataResponseSerializer().preprocessing(fail), response) == "refusal")
        #expect(failure(StringResponseSerializer().preprocessing(fail), response) == "refusal")
        #expect(failure(JSONResponseSerializer().preprocessing(fail), response) == "refusal")
        #expect(failure(DecodableResponseSerializer(Int.self).preprocessing(fail), response) == "refusal")
        #expect(
            failure(
                JSONResponseSerializer().map { _ in throw Refusal() } as MappedResponseSerializer<_, Int>,
                response
            ) == "refusal"
        )
    }

    @Test func `case 605: a preprocessor that changes nothing changes nothing`() throws {
        let serializer = DataResponseSerializer().preprocessing { $0 }
        #expect(try serializer.serialize(makeResponse(200, "data")) == Data("data".utf8))
    }

    @Test func `a preprocessor takes off a prefix`() throws {
        let prefix = Data(")]}',\n".utf8)
        let serializer = JSONResponseSerializer().preprocessing { response in
            var response = response
            if response.body.starts(with: prefix) { response.body = response.body.dropFirst(prefix.count) }
            return response
        }
        #expect(try serializer.serialize(makeResponse(type: "text/json", ")]}',\n[1]")) == [1])
    }

    @Test func `case 607: a serializer of the caller's own is like the others`() throws {
        #expect(try FirstByte().serialize(makeResponse(200, "a")) == 0x61)
        #expect(failure(FirstByte(), try makeResponse(500, "a")) == "status 500")
    }

    @Test func `case 608: every serializer has a short name`() throws {
        func output<S: ResponseSerializer>(as serializer: S, _ response: HTTPResponse) throws -> S.Output {
            try serializer.serialize(response)
        }
        let response = try makeResponse(type: "application/json", "[1]")
        #expect(try output(as: .data, response) == Data("[1]".utf8))
        #expect(try output(as: .string, response) == "[1]")
        #expect(try output(as: .json, response) == JSONValue.array([1]))
        #expect(try output(as: .decoding([Int].self), response) == [1])
        let list = try makeResponse(type: "application/x-plist", "<plist><array/></plist>")
        #expect(try output(as: .propertyList([Int].self), list) == [])
    }

    @Test func `a changed serializer is judged and changed by the one underneath`() throws {
        let missing = try makeResponse(404, "abc")
        var counting = DataResponseSerializer().map(\.count)
        #expect(failure(counting, missing) == "status 404")
        counting.validation.acceptableStatusCodes = [404]
        #expect(try counting.serialize(missing) == 3)
        #expect(counting.validation.acceptableStatusCodes == [404])

        var prepared = DataResponseSerializer().preprocessing { $0 }
        #expect(prepared.validation == ResponseValidation())
        prepared.validation.acceptableStatusCodes = nil
        #expect(try prepared.serialize(missing) == Data("abc".utf8))
    }

    @Test func `an error of the library's own that a function throws is passed on as it is`() throws {
        let refusing = DataResponseSerializer().map { (_: Data) throws -> Int in
            throw SerializationError.malformedJSON(reason: "x", offset: 1)
        }
        #expect(failure(refusing, try makeResponse(200, "abc")) == "malformed")
    }
}
