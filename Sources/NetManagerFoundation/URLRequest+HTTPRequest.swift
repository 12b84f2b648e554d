import Foundation
public import FoundationNetworking
public import HTTPMessage
public import Serializers

extension URLRequest {
    /// Makes Foundation's request of one of the library's.
    ///
    /// Repeated fields are joined with `, ` (`Cookie` with `; `), as Foundation keeps one value for a name. A file
    /// becomes an `httpBodyStream`.
    /// - Throws: ``SerializationError/file(path:reason:)`` when the body's file cannot be opened,
    ///   ``SerializationError/invalidRequest(_:)`` when the body is a stream, which Foundation cannot draw.
    public init(_ request: HTTPRequest) throws(SerializationError) {
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        allHTTPHeaderFields = request.headers.joined
        switch request.body?.storage {
        case nil: break
        case .data(let data): httpBody = data
        case .file(let path):
            guard FileManager.default.isReadableFile(atPath: path), let stream = InputStream(fileAtPath: path)
            else { throw .file(path: path, reason: "it cannot be read") }
            httpBodyStream = stream
        case .stream, .replayableStream:
            throw .invalidRequest("a body that is a stream has no form in a URLRequest; use data or a file")
        }
    }
}

extension HTTPRequest {
    /// Makes a request of Foundation's.
    ///
    /// Not taken over: `timeoutInterval`, which belongs in ``RequestOptions/timeout``; the cache policy, cookies'
    /// handling, network service type and pipelining, which the library does not have; `Content-Length` and
    /// `Transfer-Encoding`, which it sets itself. The fields are sorted by name.
    /// - Throws: ``SerializationError/invalidRequest(_:)`` when there is no URL, or when the body is an
    ///   `httpBodyStream`: an `InputStream` may not be used on other threads.
    public init(_ request: URLRequest) throws(SerializationError) {
        guard let url = request.url else { throw .invalidRequest("the URLRequest has no URL") }
        guard request.httpBodyStream == nil else {
            throw .invalidRequest("an httpBodyStream cannot be taken over; use httpBody, or HTTPBody.file")
        }
        var headers = HTTPHeaders(sorting: request.allHTTPHeaderFields ?? [:])
        headers.remove("Content-Length")
        headers.remove("Transfer-Encoding")
        self.init(
            request.httpMethod.map(HTTPMethod.init(rawValue:)) ?? .get,
            url: url,
            headers: headers,
            body: request.httpBody.map(HTTPBody.data)
        )
    }
}
