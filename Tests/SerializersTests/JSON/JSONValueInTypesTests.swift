import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

@Suite("JSON values inside of types") struct JSONValueInTypesTests {
    private struct Item: Decodable, Sendable {
        var name: String
        var extra: JSONValue
        var more: JSONValue?
        var list: [JSONValue]?
        var byName: [String: JSONValue]?
        var byNumber: [Int: JSONValue]?
        var inner: [Item]?
    }

    private func read<T: Decodable & Sendable>(
        _ type: T.Type,
        _ text: String,
        _ decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) throws -> T {
        let response = try makeResponse(type: "application/json", text)
        return try DecodableResponseSerializer(type, decoder: decoder).serialize(response)
    }

    @Test func `each value is the one at its place`() throws {
        let text = #"""
            {"name":"a","extra":{"k":[1,2.5,"x",null,true]},"more":null,"list":[[1],{"a":"b"},null],
             "byName":{"x_y":{"z_z":1},"":2},"byNumber":{"7":[7],"-1":"m"},
             "inner":[{"name":"b","extra":18446744073709551615},{"name":"c","extra":"last","list":[]}]}
            """#
        let item = try read(Item.self, text)
        #expect(item.extra == ["k": [1, 2.5, "x", nil, true]])
        #expect(item.more == nil)
        #expect(item.list == [[1], ["a": "b"], nil])
        #expect(item.byName == ["x_y": ["z_z": 1], "": 2])
        #expect(item.byNumber == [7: [7], -1: "m"])
        #expect(item.inner?.map(\.extra) == [.uint(.max), "last"])
        #expect(item.inner?[1].list == [])
        #expect(try read([JSONValue].self, "[1,[2],{}]") == [1, [2], [:]])
        #expect(try read(JSONValue.self, #"{"a":[]}"#) == ["a": []])
    }

    @Test func `a tree that is decoded gives its own values`() throws {
        let tree: JSONValue = ["name": "a", "extra": ["deep": [1, ["x": nil]]]]
        let item: Item = try tree.decode()
        #expect(item.extra == ["deep": [1, ["x": nil]]])
    }

    /// What decoders of nested containers call their places.
    private struct Manual: Decodable, Sendable {
        private enum Key: String, CodingKey { case list, object }
        private enum Inner: String, CodingKey { case value }

        var values: [JSONValue] = []

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            values.append(try list.decode(JSONValue.self))
            values.append(try JSONValue(from: list.superDecoder()))
            let inner = try container.nestedContainer(keyedBy: Inner.self, forKey: .object)
            values.append(try inner.decode(JSONValue.self, forKey: .value))
            values.append(try JSONValue(from: container.superDecoder(forKey: .object)))
            values.append(try JSONValue(from: decoder))
        }
    }

    @Test func `values are found behind containers that a type opens itself`() throws {
        let text = #"{"list":["first",{"second":2}],"object":{"value":[3]}}"#
        let whole: JSONValue = ["list": ["first", ["second": 2]], "object": ["value": [3]]]
        #expect(
            try read(Manual.self, text).values == ["first", ["second": 2], [3], ["value": [3]], whole]
        )
    }

    @Test func `of a key that is there twice the first counts in all of a type`() throws {
        let text = #"""
            {"name":"first","extra":{"a":1,"a":2},"inner":[{"name":"x","extra":1}],
             "name":"second","extra":3,"inner":[{"name":"y","extra":2}]}
            """#
        let item = try read(Item.self, text)
        #expect(item.name == "first" && item.extra == ["a": 1])
        #expect(item.inner?.first?.name == "x" && item.inner?.first?.extra == 1)
    }

    @Test func `names that a decoder changes lead to the right values too`() throws {
        let text =
            #"{"name":"a","extra":{"snake_case":{"x_y":1}},"by_name":{"a_b":[2]},"byName":{"wrong":0}}"#
        let item = try read(Item.self, text) {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }
        #expect(item.extra == ["snake_case": ["x_y": 1]])
        #expect(item.byName == ["a_b": [2]])
    }

    /// It reads a JSON text out of a string, with a decoder of its own.
    private struct Envelope: Decodable, Sendable {
        private enum Key: String, CodingKey { case payload, extra }

        var payload: [String: JSONValue]
        var extra: JSONValue

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            let text = try container.decode(String.self, forKey: .payload)
            payload = try JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8))
            extra = try container.decode(JSONValue.self, forKey: .extra)
        }
    }

    @Test func `a text inside of the text has its own values`() throws {
        let envelope = try read(Envelope.self, #"{"payload":"{\"extra\":[1]}","extra":"outer"}"#)
        #expect(envelope.payload == ["extra": [1]])
        #expect(envelope.extra == "outer")
    }

    private struct Tagged: Decodable, Sendable {
        static let key = CodingUserInfoKey(rawValue: "tag")

        var tag: String?
        var date: Date
        var data: Data
        var number: Double
        var extra: JSONValue

        private enum Key: String, CodingKey { case date, data, number, extra }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            tag = Self.key.flatMap { decoder.userInfo[$0] as? String }
            date = try container.decode(Date.self, forKey: .date)
            data = try container.decode(Data.self, forKey: .data)
            number = try container.decode(Double.self, forKey: .number)
            extra = try container.decode(JSONValue.self, forKey: .extra)
        }
    }

    @Test func `the caller's decoder keeps its settings, and they count`() throws {
        let shared = JSONDecoder()
        shared.dateDecodingStrategy = .millisecondsSince1970
        shared.dataDecodingStrategy = .custom { _ in Data([7]) }
        shared.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "+",
            negativeInfinity: "-",
            nan: "n"
        )
        if let key = Tagged.key { shared.userInfo[key] = "mine" }
        let tagged = try read(Tagged.self, #"{"date":2000,"data":"","number":"-","extra":[1]}"#) { shared }
        #expect(
            tagged.tag == "mine" && tagged.date == Date(timeIntervalSince1970: 2) && tagged.data == Data([7])
        )
        #expect(tagged.number == -.infinity && tagged.extra == [1])
        #expect(shared.userInfo.count == 1)
    }

    @Test func `deep values take no longer than flat ones`() throws {
        let deep = String(repeating: "[", count: 400) + "1.5" + String(repeating: "]", count: 400)
        let text = "[" + Array(repeating: deep, count: 1000).joined(separator: ",") + "]"
        let clock = ContinuousClock()
        var values: [JSONValue] = []
        // It was minutes when each level was guessed.
        let time = try clock.measure { values = try read([JSONValue].self, text) }
        #expect(values.count == 1000)
        #expect(time < .seconds(20))
    }
}
