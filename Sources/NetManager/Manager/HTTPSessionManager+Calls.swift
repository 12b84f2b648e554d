import Dispatch
import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import Serializers

extension HTTPSessionManager {
    /// What a caller of one of the verbs asks for.
    struct Call: Sendable {
        var method: HTTPMethod
        var url: String
        var parameters: JSONValue?
        var headers: HTTPHeaders
        var options: RequestOptions
        /// The content, instead of what the request serializer makes of the parameters.
        var form: MultipartForm?
        /// The content as it is, instead of a form or parameters.
        var body: HTTPBody?
    }

    /// A call that is ready to be sent.
    struct PreparedCall: Sendable {
        let exchange: Exchange
        let steps: CallSettings
        let bodyLimit: Int

        /// Sends the request through the pipeline; the content may be still to come.
        @inline(__always)
        func open() async throws -> StreamedResponse {
            exchange.began()
            return try await send(exchange.request)
        }

        /// Sends a request of the call's through the pipeline.
        @inline(__always)
        func send(_ request: HTTPRequest) async throws -> StreamedResponse {
            // A suspended call runs no interceptor either.
            if exchange.control.isPaused { try await exchange.control.untilGoingOn() }
            let pipeline = Pipeline(steps, exchange: exchange)
            guard steps.runsForeignCode || exchange.lanes.engine == nil else {
                return try await pipeline.send(request)
            }
            return try await exchange.bounded { try await pipeline.send(request) }
        }

        /// Sends the request and reads the response to its end.
        func respond() async throws -> HTTPResponse {
            let response = try await open()
            // It has been read by now, unless an interceptor made one of its own.
            guard let body = response.body.dataInMemory, body.count <= bodyLimit else {
                return try await readWhole(response)
            }
            return whole(response, body)
        }

        private func readWhole(_ response: StreamedResponse) async throws -> HTTPResponse {
            whole(response, try await response.body.collect(upTo: bodyLimit))
        }

        // Not inlined, as what it holds for a moment would be part of what every waiting call holds.
        @inline(never)
        private func whole(_ response: StreamedResponse, _ body: Data) -> HTTPResponse {
            if let meter = exchange.context.meter,
                meter.progress.direction == .upload || meter.progress.completed == 0
            {
                let count = Int64(body.count)
                meter.record(TransferProgress(direction: .download, completed: count, total: count))
            }
            var whole = HTTPResponse(head: response.head, body: body, requestMethod: exchange.lastMethod)
            whole.redirects = response.redirects
            whole.trailers = response.body.trailers
            return whole
        }

        /// Lets a serializer read the response.
        func read<S: ResponseSerializer>(_ response: HTTPResponse, as serializer: S) throws(RequestError)
            -> S.Output
        {
            do {
                return try serializer.serialize(response)
            } catch {
                throw RequestError.unreadable(error, response, of: exchange)
            }
        }
    }

    // MARK: The two styles

    /// The async style: every verb and every result type goes through here.
    /// - Parameters:
    ///   - call: What is asked for.
    ///   - serializer: Chooses what reads the response, given the configuration of this call.
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    func value<S: ResponseSerializer>(
        of call: Call,
        as serializer: (Configuration) -> S
    ) async throws -> S.Output {
        let snapshot = snapshot
        let prepared = try prepare(call, under: snapshot)
        do {
            let response = try await prepared.respond()
            // Here the engine's thread has been left: a user's serializer runs where its caller does.
            let value = try prepared.read(response, as: serializer(snapshot.configuration))
            prepared.exchange.ended(response.head, nil)
            return value
        } catch {
            throw HTTPSessionManager.ended(by: error, prepared.exchange)
        }
    }

    /// The closure style: every verb and every result type goes through here.
    ///
    /// The request is made on the caller's thread, so that the task begins on the engine's at once.
    func start<S: ResponseSerializer>(
        _ call: Call,
        as serializer: (Configuration) -> S,
        success: (@Sendable (RequestTask, S.Output) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)?,
        progress: ProgressHandler?
    ) -> RequestTask {
        let task = RequestTask()
        if call.options.startsSuspended { task.suspend() }
        let snapshot = snapshot
        let completion = Completion(
            queue: snapshot.completionQueue,
            ownLanes: snapshot.configuration.completionQueue == nil ? lanes : nil,
            task: task,
            success: success,
            failure: failure
        )
        let prepared: PreparedCall
        do {
            var call = call
            if let handler = task.meter.recording(before: progress ?? call.options.progress) {
                call.options.progress = handler
            }
            prepared = try prepare(call, under: snapshot) { context in
                context.control = task.control
                context.meter = task.meter
                context.metrics = task.recorder
                context.progressQueue = completion.queue
            }
        } catch {
            completion.deliver(.failure(error), for: HTTPRequestLine(method: call.method, url: call.url))
            return task
        }
        let serializer = serializer(snapshot.configuration)
        let lanes = lanes
        let carrier = Task(executorPreference: lanes.engine) {
            let result: Result<S.Output, RequestError>
            var head: HTTPResponse.Head?
            do {
                let response = try await prepared.respond()
                head = response.head
                if serializer is any LibrarySerializer, response.body.count <= Lanes.decodedOnEngine {
                    result = .success(try prepared.read(response, as: serializer))
                } else {
                    result = .success(
                        try await lanes.offEngine { try prepared.read(response, as: serializer) }
                    )
                }
            } catch {
                result = .failure(RequestError.made(from: error, of: prepared.exchange))
            }
            completion.deliver(result, for: HTTPRequestLine(prepared.exchange.request)) { [head] in
                prepared.exchange.ended(head, $0, isDelivered: false)
            } left: {
                prepared.exchange.left()
            }
        }
        task.attach(carrier)
        return task
    }

    /// What an async caller is thrown: `CancellationError` if it was its own task that was cancelled.
    ///
    /// Monitors are told of the end.
    static func ended(by error: any Error, _ exchange: Exchange) -> any Error {
        let error = RequestError.made(from: error, of: exchange)
        exchange.ended(nil, error)
        if case .cancelled = error.kind, Task.isCancelled { return CancellationError() }
        return error
    }
}
