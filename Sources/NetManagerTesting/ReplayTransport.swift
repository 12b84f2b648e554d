import FoundationEssentials
public import HTTPMessage
import Locks
public import NetManager

/// Answers requests from a ``Recording`` instead of from a server.
///
/// Each exchange is used once: the first one left that matches. A request that matches none fails, and nothing is
/// ever sent. The promises of ``StubTransport`` hold here too.
public final class ReplayTransport: Transport {
    /// What of a request must be as it was recorded.
    public enum Matching: Sendable, Hashable {
        /// The method and the URL.
        case methodAndURL
        /// The method, the URL and the content, byte by byte.
        case methodURLAndBody
    }

    /// A request that is not in the recording.
    public struct Unrecorded: Error, Sendable, CustomStringConvertible {
        /// The method and the URL without its secrets, and what to do.
        public let description: String
    }

    private let left: Guarded<[Recording.Exchange]>
    private let stub: StubTransport

    /// Makes a transport that answers from a recording.
    /// - Parameters:
    ///   - recording: The exchanges.
    ///   - matching: What of a request must be as it was recorded; the method and the URL by default.
    ///   - redaction: What was taken out of the recording, and is taken out of requests before they are compared;
    ///     ``Redaction/standard`` by default.
    public init(
        _ recording: Recording,
        matching: Matching = .methodAndURL,
        redaction: Redaction = .standard
    ) {
        let left = Guarded(recording.exchanges)
        self.left = left
        stub = StubTransport { request in
            let wanted = Self.exchange(for: request, redaction)
            let found = left.withLock { [wanted] left -> Recording.Exchange? in
                let index = left.firstIndex { exchange in
                    exchange.method == wanted.method && exchange.url == wanted.url
                        && (matching == .methodAndURL || exchange.requestBody == wanted.requestBody)
                }
                return index.map { left.remove(at: $0) }
            }
            guard let found else { throw Unrecorded(wanted) }
            return try Self.response(found.outcome, to: request)
        }
    }

    /// Makes a transport that answers from a file.
    /// - Throws: ``Recording/Malformed`` for a file that is no recording; Foundation's error for one that cannot be
    ///   read.
    public convenience init(
        contentsOf path: String,
        matching: Matching = .methodAndURL,
        redaction: Redaction = .standard
    ) throws {
        try self.init(Recording(contentsOf: path), matching: matching, redaction: redaction)
    }

    /// The exchanges that no request has used so far; a test may want none to be left.
    public var unused: [Recording.Exchange] { left.withLock { $0 } }

    /// The requests so far, in order, also those that match nothing.
    public var requests: [HTTPRequest] { stub.requests }

    /// Answers a request (see ``Transport``).
    /// - Throws: ``RequestError`` of kind `custom` with ``Unrecorded`` for a request that is not in the recording.
    public func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse {
        do {
            return try await stub.send(request, context: context)
        } catch let error as Unrecorded {
            throw RequestError(
                .custom(error),
                method: request.method,
                url: request.url.absoluteString,
                attempt: context.attempt,
                detail: error.description
            )
        }
    }

    /// The request as it would have been recorded.
    private static func exchange(for request: HTTPRequest, _ redaction: Redaction) -> Recording.Exchange {
        var body = Data()
        // The stub has read every other kind of body.
        if case .data(let data)? = request.body?.storage { body = data }
        var exchange = Recording.Exchange(
            method: request.method,
            url: request.url.absoluteString,
            requestHeaders: request.headers,
            requestBody: body,
            outcome: .failure(label: "")
        )
        redaction.apply(to: &exchange)
        return exchange
    }

    private static func response(_ outcome: Recording.Outcome, to request: HTTPRequest) throws -> HTTPResponse
    {
        switch outcome {
        case .response(let status, let headers, let body, let version):
            return HTTPResponse(
                head: .init(status: status, headers: headers, url: request.url, version: version),
                body: body,
                requestMethod: request.method
            )
        case .failure(let label):
            throw RequestError(
                RequestError.Kind(label: label) ?? .connectionLost,
                method: request.method,
                url: request.url.absoluteString,
                attempt: 1
            )
        }
    }
}

extension ReplayTransport.Unrecorded {
    init(_ exchange: Recording.Exchange) {
        let url = RequestError.redacted(exchange.url)
        description = "\(exchange.method.rawValue) \(url) is not left in the recording: record it anew."
    }
}
