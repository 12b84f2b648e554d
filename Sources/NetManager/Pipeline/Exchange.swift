import FoundationEssentials
import HTTPMessage
import Locks
import SecurityPolicy

/// One call on its way: what stays the same over all its attempts and redirects, and the last step before the
/// transport.
final class Exchange: Sendable {
    /// The request as the manager made it, before any interceptor.
    let request: HTTPRequest
    /// How each attempt is to be carried, but for its number.
    let context: TransportContext
    let transport: any Transport
    let lanes: Lanes
    let time: TimeSource

    private struct Record {
        var attempts = 0
        var lastMethod: HTTPMethod?
        var hasSentOneShotBody = false
    }

    private let record = Guarded(Record())

    init(
        request: HTTPRequest,
        context: TransportContext,
        transport: any Transport,
        lanes: Lanes,
        time: TimeSource
    ) {
        self.request = request
        self.context = context
        self.transport = transport
        self.lanes = lanes
        self.time = time
    }

    /// How often something was handed to the transport.
    var attempts: Int { record.withLock(\.attempts) }

    /// The method of the request that was sent last: a redirect may have changed it.
    var lastMethod: HTTPMethod { record.withLock(\.lastMethod) ?? request.method }

    /// Hands one request to the transport, once; every retry and redirect comes through here.
    ///
    /// What may not be sent is refused here and not only at the beginning, as interceptors and redirects make requests
    /// of their own.
    func send(_ request: HTTPRequest) async throws -> StreamedResponse {
        try Task.checkCancellation()
        var context = try context.judging(request)
        try RequestRules.check(request, policy: context.policy)
        let isOneShot = request.body.map { !$0.isReplayable } ?? false
        let (attempt, isSpent) = record.withLock { record in
            let isSpent = isOneShot && record.hasSentOneShotBody
            guard !isSpent else { return (record.attempts, true) }
            record.attempts += 1
            record.lastMethod = request.method
            record.hasSentOneShotBody = record.hasSentOneShotBody || isOneShot
            return (record.attempts, false)
        }
        guard !isSpent else {
            let reason = "The body is a stream, which can be sent once, and has been sent."
            throw RequestError(.invalidRequest(reason), for: request, attempt: attempt)
        }
        if let deadline = context.deadline, time.now() >= deadline {
            throw RequestError(.timedOut(.total), for: request, attempt: attempt - 1)
        }
        context.attempt = attempt
        let response = try await transport.send(keepingBodyOffEngine(request), context: context)
        return try await collected(response, of: request, attempt: attempt)
    }

    /// Reads the content here when it is wanted whole, so that a connection that breaks in its middle is one of the
    /// failures that a retry sees.
    private func collected(
        _ response: StreamedResponse,
        of request: HTTPRequest,
        attempt: Int
    ) async throws -> StreamedResponse {
        guard case .buffered(let limit) = context.delivery else { return response }
        do {
            var response = response
            response.body = ResponseBody(try await response.body.collect(upTo: limit))
            return response
        } catch is BodyTooLarge {
            let head = HTTPResponse(head: response.head, requestMethod: request.method)
            throw RequestError(
                .bodyTooLarge,
                for: request,
                attempt: attempt,
                response: head,
                detail: "The limit is \(limit) bytes."
            )
        }
    }

    /// Sees to it that a sequence that a user wrote is drawn on Swift's own threads, wherever the transport draws.
    private func keepingBodyOffEngine(_ request: HTTPRequest) -> HTTPRequest {
        guard lanes.engine != nil, let body = request.body else { return request }
        let lanes = lanes
        func moved(_ pieces: @escaping HTTPBody.Pieces) -> HTTPBody.Pieces {
            {
                let producer = pieces()
                return HTTPBody.Producer { try await lanes.offEngine { try await producer.next() } }
            }
        }
        var request = request
        switch body.storage {
        case .data, .file: break
        case .stream(let length, let pieces):
            request.body = HTTPBody(storage: .stream(length: length, moved(pieces)))
        case .replayableStream(let length, let pieces):
            request.body = HTTPBody(storage: .replayableStream(length: length, moved(pieces)))
        }
        return request
    }
}
