import FoundationEssentials
import HTTPMessage
import Serializers
import Testing

/// The request that a serializer makes of a method, a URL and parameters.
func serialized(
    _ method: HTTPMethod,
    _ parameters: JSONValue?,
    at url: String = "http://example.com",
    headers: HTTPHeaders = [:],
    by serializer: FormRequestSerializer = FormRequestSerializer()
) throws -> HTTPRequest {
    var request = HTTPRequest(method, url: try #require(URL(string: url)), headers: headers)
    try serializer.serialize(parameters, into: &request)
    return request
}

extension HTTPRequest {
    /// The body as text; nil when there is none, or it is not in memory.
    var bodyText: String? {
        guard case .data(let data)? = body?.storage else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}

/// Parameters, or whatever else goes in, and the text that must come out.
struct FormVector<Input: Sendable>: Sendable, CustomTestStringConvertible {
    let cases: String
    let input: Input
    let output: String

    init(_ cases: String, _ input: Input, _ output: String) {
        self.cases = cases
        self.input = input
        self.output = output
    }

    /// The number of the case only: some texts are very long.
    var testDescription: String { "case \(cases)" }
}
