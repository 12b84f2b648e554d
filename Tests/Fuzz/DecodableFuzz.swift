// module: Serializers
// seeds: json-suite
//
// Any body, read into types: whatever the decoder makes of dates, URLs, data and key names, it must end without a
// crash.

import FoundationEssentials
import HTTPMessage
import Serializers

private struct Record: Decodable, Sendable {
    var int: Int8?
    var unsigned: UInt64?
    var number: Double?
    var decimal: Decimal?
    var date: Date?
    var url: URL?
    var data: Data?
    var id: UUID?
    var anyKey: [String: JSONValue]?
    var nested: [Record]?
}

private let decoders: [@Sendable () -> JSONDecoder] = [
    { JSONDecoder() },
    {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    },
    {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        decoder.dataDecodingStrategy = .deferredToData
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return decoder
    },
]

private func read<T: Decodable & Sendable>(_ type: T.Type, _ response: HTTPResponse) {
    for decoder in decoders {
        let serializer = DecodableResponseSerializer(type, decoder: decoder)
        // What was read is not shown: Foundation traps where it shows a date that is no number.
        _ = try? serializer.serialize(response)
    }
}

/// One body under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDecodable(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let url = URL(string: "http://h/") else { return 0 }
    var head = HTTPResponse.Head(status: 200, url: url)
    head.headers["Content-Type"] = "application/json"
    let response = HTTPResponse(head: head, body: Data(UnsafeBufferPointer(start: start, count: count)))
    read(Record.self, response)
    read([Record].self, response)
    read([String: Record].self, response)
    read([Date].self, response)
    read([URL].self, response)
    read([Decimal].self, response)
    read([Data].self, response)
    read([UUID].self, response)
    read([String: Double].self, response)
    read([Int64].self, response)
    read(JSONValue.self, response)
    return 0
}
