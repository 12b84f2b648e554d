public import FoundationEssentials
public import HTTPMessage
import Locks
import SecurityPolicy

/// Answers requests from a closure instead of from a server, and records them: for tests without sockets.
///
/// It keeps the promises of a transport: cancelling ends the call, the deadline is kept, a content over the limit is
/// refused, progress is told once for each direction. Copies share one record.
public struct StubTransport: Transport {
    /// Answers one request; what it throws is the transport's error.
    public typealias Answer = @Sendable (HTTPRequest) async throws -> HTTPResponse

    /// A request and how it was to be carried.
    public struct Call: Sendable {
        /// The request; a body that is a file or a stream has been read, and is its bytes.
        public var request: HTTPRequest
        /// The policy, deadline and attempt.
        public var context: TransportContext
    }

    private final class Record: Sendable {
        let calls: Guarded<[Call]> = Guarded([])
    }

    private let answer: Answer
    private let record = Record()

    /// Makes a transport that answers by a closure.
    ///
    /// The closure gets the request as a server would: with its body as bytes.
    public init(_ answer: @escaping Answer) {
        self.answer = answer
    }

    /// Makes a transport that answers everything alike.
    /// - Parameters:
    ///   - status: The status code.
    ///   - headers: The header fields.
    ///   - body: The content.
    public init(status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data()) {
        self.init { request in
            HTTPResponse(
                head: HTTPResponse.Head(status: status, headers: headers, url: request.url),
                body: body,
                requestMethod: request.method
            )
        }
    }

    /// Makes a transport that answers everything with the same JSON.
    public init(json: String, status: Int = 200) {
        self.init(status: status, headers: ["Content-Type": "application/json"], body: Data(json.utf8))
    }

    /// What was sent so far, in order.
    public var calls: [Call] { record.calls.withLock { $0 } }

    /// The requests that were sent so far, in order.
    public var requests: [HTTPRequest] { calls.map(\.request) }

    /// Records the request and answers it.
    public func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse {
        try Task.checkCancellation()
        var request = request
        if let body = request.body {
            let bytes = try await StubTransport.bytes(of: body, request, attempt: context.attempt)
            request.body = .data(bytes)
            tell(.upload, bytes.count, context)
        }
        let call = Call(request: request, context: context)
        record.calls.withLock { $0.append(call) }
        let response = try await answered(request, context)
        try Task.checkCancellation()
        if case .buffered(let limit) = context.delivery, response.body.count > limit {
            let head = HTTPResponse(head: response.head, requestMethod: request.method)
            throw RequestError(.bodyTooLarge, for: request, attempt: context.attempt, response: head)
        }
        tell(.download, response.body.count, context)
        return StreamedResponse(head: response.head, body: ResponseBody(response.body))
    }

    private func tell(_ direction: TransferProgress.Direction, _ count: Int, _ context: TransportContext) {
        let progress = TransferProgress(direction: direction, completed: Int64(count), total: Int64(count))
        context.meter?.record(progress)
        context.progress?(progress)
    }

    /// The closure's answer, unless the deadline comes first.
    private func answered(_ request: HTTPRequest, _ context: TransportContext) async throws -> HTTPResponse {
        guard let deadline = context.deadline else { return try await answer(request) }
        return try await withThrowingTaskGroup(of: HTTPResponse?.self) { group in
            group.addTask { try await answer(request) }
            group.addTask {
                try await Task.sleep(until: deadline, clock: .continuous)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let response = first else {
                throw RequestError(.timedOut(.total), for: request, attempt: context.attempt)
            }
            return response
        }
    }

    /// Reads a request's body to its end, as a transport that needs it whole.
    package static func bytes(
        of body: HTTPBody,
        _ request: HTTPRequest,
        attempt: Int
    ) async throws -> Data {
        switch body.storage {
        case .data(let data):
            return data
        case .file(let path):
            guard let data = FileManager.default.contents(atPath: path) else {
                throw RequestError(.file("\(path): it cannot be read."), for: request, attempt: attempt)
            }
            return data
        case .stream(let length, let pieces), .replayableStream(let length, let pieces):
            let producer = pieces()
            var data = Data()
            while let piece = try await producer.next() { data += piece }
            if let length, length != Int64(data.count) {
                let reason = "The body has \(data.count) bytes and \(length) were declared."
                throw RequestError(
                    .invalidRequest(reason),
                    for: request,
                    attempt: attempt,
                    underlying: UnsendableBody()
                )
            }
            return data
        }
    }
}
