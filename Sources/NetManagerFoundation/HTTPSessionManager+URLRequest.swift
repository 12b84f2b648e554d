public import Foundation
public import FoundationNetworking
import HTTPMessage
public import NetManager
import Serializers

extension HTTPSessionManager {
    /// Sends Foundation's request, for code that calls `URLSession.data(for:)`.
    ///
    /// It goes as ``send(_:options:)`` sends it: no status or content type is judged. A `timeoutInterval` other than
    /// Foundation's 60 s limits the whole call, unless the options have a timeout of their own.
    /// - Parameters:
    ///   - request: The request; see `HTTPRequest.init(_:)` for what of it is not taken over.
    ///   - options: What is done otherwise than the configuration says.
    /// - Returns: The content and Foundation's response.
    /// - Throws: ``RequestError``; ``SerializationError`` when the request cannot be taken over; `CancellationError`
    ///   when the calling task was cancelled; `URLError` of code `badServerResponse` when Foundation makes no response of
    ///   what the server answered.
    public func data(
        for request: URLRequest,
        options: RequestOptions = .init()
    ) async throws -> (Data, HTTPURLResponse) {
        var options = options
        // The bounds keep Duration from trapping on what is no length of time.
        if options.timeout == nil, request.timeoutInterval != 60,
            (0.001..<1e9).contains(request.timeoutInterval)
        {
            options.timeout = .milliseconds(Int64(request.timeoutInterval * 1000))
        }
        let response = try await send(HTTPRequest(request), options: options)
        guard let bridged = HTTPURLResponse(response.head) else { throw URLError(.badServerResponse) }
        return (response.body, bridged)
    }
}
