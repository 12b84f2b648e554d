import FoundationEssentials
import HTTPMessage
import Testing

/// Makes a response as a server would answer.
func makeResponse(
    _ status: Int = 200,
    type: String? = nil,
    _ body: some Sequence<UInt8> = [],
    method: HTTPMethod? = .get
) throws -> HTTPResponse {
    let url = try #require(URL(string: "http://h/x"))
    var head = HTTPResponse.Head(status: status, url: url)
    head.headers["Content-Type"] = type
    return HTTPResponse(head: head, body: Data(body), requestMethod: method)
}

func makeResponse(
    _ status: Int = 200,
    type: String? = nil,
    _ body: String,
    method: HTTPMethod? = .get
) throws -> HTTPResponse {
    try makeResponse(status, type: type, body.utf8, method: method)
}
