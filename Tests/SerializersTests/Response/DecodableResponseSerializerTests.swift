import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite("Typed responses") struct DecodableResponseSerializerTests {
    private struct Team: Decodable, Sendable, Equatable {
        var team: String
        var score: Int
    }

    private struct Nothing: Decodable, EmptyRepresentable, Sendable, Equatable {
        static let empty = Nothing()
    }

    private let json = "application/json"

    /// The error as a word.
    private func failure<T: Decodable & Sendable>(_ type: T.Type, _ response: HTTPResponse) -> String {
        do {
            _ = try DecodableResponseSerializer(type).serialize(response)
            return "none"
        } catch .emptyBody {
            return "empty"
        } catch .undecodable(let type, _) {
            return "undecodable \(type)"
        } catch .malformedJSON(_, let offset) {
            return "malformed at \(offset)"
        } catch .unacceptableStatus(let status, let underlying) {
            return "status \(status)\(underlying == nil ? "" : " and more")"
        } catch {
            return "other"
        }
    }

    @Test func `a value is read`() throws {
        let response = try makeResponse(type: json, #"{"team":"royals","score":23}"#)
        let serializer = DecodableResponseSerializer(Team.self)
        #expect(try serializer.serialize(response) == Team(team: "royals", score: 23))
    }

    @Test func `the caller's decoder decides about dates and names`() throws {
        struct Item: Decodable, Sendable { var madeAt: Date }
        let serializer = DecodableResponseSerializer(Item.self) {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }
        let item = try serializer.serialize(makeResponse(type: json, #"{"made_at":5}"#))
        #expect(item.madeAt == Date(timeIntervalSince1970: 5))
    }

    @Test func `case 590: an empty body is an error`() throws {
        #expect(failure(Team.self, try makeResponse(type: json)) == "empty")
        #expect(failure(Team.self, try makeResponse(type: json, " ")) == "empty")
    }

    @Test(arguments: [
        (#"{}"#, "a value is no array, at the top level"),
        (#"[{"team":[],"score":1}]"#, "a value is no String, at 0.team"),
        (#"[7]"#, "a value is no object, at 0"),
        (#"[{"team":"a"}]"#, "the key score is missing, at 0"),
    ])
    func `the text says in JSON's words what is wrong, and where`(json: String, text: String) throws {
        let response = try makeResponse(type: self.json, json)
        let error = #expect(throws: SerializationError.self) {
            try DecodableResponseSerializer([Team].self).serialize(response)
        }
        #expect("\(try #require(error))" == "The body is no Array<Team>: \(text).")
    }

    @Test func `case 592: a text of another shape is undecodable`() throws {
        #expect(failure(Team.self, try makeResponse(type: json, #"{"team":1}"#)) == "undecodable Team")
    }

    @Test func `case 593: an empty body with 200 is an error even for a type that can be empty`() throws {
        #expect(failure(Nothing.self, try makeResponse(type: json)) == "empty")
        #expect(failure(EmptyResponse.self, try makeResponse(200)) == "empty")
    }

    @Test func `case 595: 204, 205 and HEAD give the empty value of a type that has one`() throws {
        let serializer = DecodableResponseSerializer(Nothing.self)
        #expect(try serializer.serialize(makeResponse(204)) == .empty)
        #expect(try serializer.serialize(makeResponse(205)) == .empty)
        #expect(try serializer.serialize(makeResponse(200, method: .head)) == .empty)
        #expect(failure(EmptyResponse.self, try makeResponse(204)) == "none")
        #expect(failure(JSONValue.self, try makeResponse(204)) == "none")
    }

    @Test func `case 596: 204 is an error for any other type`() throws {
        #expect(failure(Team.self, try makeResponse(204)) == "empty")
    }

    @Test func `an empty body is nil for an optional type, whatever the status`() throws {
        let serializer = DecodableResponseSerializer(Team?.self)
        #expect(try serializer.serialize(makeResponse(type: json)) == nil)
        #expect(try serializer.serialize(makeResponse(204)) == nil)
        let full = try makeResponse(type: json, #"{"team":"a","score":1}"#)
        #expect(try serializer.serialize(full)?.score == 1)
    }

    @Test func `a broken text is told by its offset`() throws {
        #expect(failure(Team.self, try makeResponse(type: json, #"{"team":}"#)) == "malformed at 8")
    }

    @Test func `the body of a bad status is not decoded`() throws {
        #expect(failure(Team.self, try makeResponse(404, type: json, "[]")) == "status 404")
        #expect(failure(Team.self, try makeResponse(404, type: "text/html", "x")) == "status 404 and more")
    }

    @Test func `another character set is converted before decoding`() throws {
        let body = Array(#"{"team":""#.utf8) + [0xC4, 0xE3, 0x5C, 0x6E] + Array(#"","score":1}"#.utf8)
        let serializer = DecodableResponseSerializer(Team.self)
        let team = try serializer.serialize(makeResponse(type: "application/json; charset=gbk", body))
        #expect(team.team == "你\n")
        let marked = [0xEF, 0xBB, 0xBF] + Array(#"{"team":"x","score":1}"#.utf8)
        #expect(try serializer.serialize(makeResponse(type: json, marked)).team == "x")
    }

    @Test func `content that nobody wants to read is passed over, whatever it is`() throws {
        let serializer = DecodableResponseSerializer(EmptyResponse.self)
        for body in ["{}", #"{"a":1}"#, "[1]", "null"] {
            let response = try makeResponse(type: "application/json", body)
            #expect(try serializer.serialize(response) == EmptyResponse.empty)
        }
    }
}
