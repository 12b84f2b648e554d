import FoundationEssentials
public import HTTPMessage
import Locks
public import NetManager

/// Sends requests through another transport and records what becomes of them, without the secrets.
///
/// Bodies are read to their ends, of requests and of responses, before they are passed on: it is for tests of calls,
/// not for streams without end. Requests that fail for another reason than the connection (a server that is not
/// trusted, a call that was cancelled) are not recorded.
///
/// ```swift
/// let recorder = RecordingTransport()
/// let manager = HTTPSessionManager(transport: recorder)
/// _ = try await manager.get("https://api.example.com/users")
/// try recorder.recording.write(to: "Tests/Fixtures/users.json")
/// ```
public final class RecordingTransport: Transport {
    /// The largest content of a response that is read: 64 MiB.
    public static let bodyLimit = 64 << 20

    private let transport: any Transport
    private let redaction: Redaction
    private let record = Guarded(Recording())

    /// Makes a transport that records.
    /// - Parameters:
    ///   - transport: What carries the requests; ``CurlTransport/shared`` by default.
    ///   - redaction: What is taken out of the recording; ``Redaction/standard`` by default.
    public init(_ transport: any Transport = CurlTransport.shared, redaction: Redaction = .standard) {
        self.transport = transport
        self.redaction = redaction
    }

    /// What was recorded so far.
    public var recording: Recording { record.withLock { $0 } }

    /// Sends a request once (see ``Transport``).
    public func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse {
        var request = request
        var sent = Data()
        if let body = request.body {
            sent = try await StubTransport.bytes(of: body, request, attempt: context.attempt)
            request.body = .data(sent)
        }
        do {
            var response = try await transport.send(request, context: context)
            let body = try await response.body.collect(upTo: Self.bodyLimit)
            let head = response.head
            note(
                request,
                sent,
                .response(status: head.status, headers: head.headers, body: body, version: head.version)
            )
            response.body = ResponseBody(body)
            return response
        } catch let error as RequestError {
            if RequestError.Kind(label: error.label) != nil {
                note(request, sent, .failure(label: error.label))
            }
            throw error
        }
    }

    private func note(_ request: HTTPRequest, _ body: Data, _ outcome: Recording.Outcome) {
        var exchange = Recording.Exchange(
            method: request.method,
            url: request.url.absoluteString,
            requestHeaders: request.headers,
            requestBody: body,
            outcome: outcome
        )
        redaction.apply(to: &exchange)
        record.withLock { [exchange] in $0.exchanges.append(exchange) }
    }
}
