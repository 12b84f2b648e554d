import FoundationEssentials
import HTTPMessage
import NetManager
import Testing

/// A body as a server that compresses sends it.
func compressed(_ data: Data, _ compression: RequestCompression = .gzip) throws -> Data {
    var compression = compression
    compression.minimumSize = 0
    var request = HTTPRequest(.post, url: try #require(URL(string: "http://a.test")), body: .data(data))
    try compression.apply(to: &request)
    guard case .data(let bytes)? = request.body?.storage, request.headers.contains("Content-Encoding") else {
        throw Unexpected(what: "the body did not get smaller")
    }
    return bytes
}
