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
    }

    /// A call that is ready to be sent.
    struct PreparedCall: Sendable {
        let exchange: Exchange
        let settings: CallSettings
        let bodyLimit: Int

        /// Sends the request through the pipeline; the content may be still to come.
        func open() async throws -> StreamedResponse {
            try await Pipeline(settings, exchange: exchange).send(exchange.request)
        }

        /// Sends the request and reads the response to its end.
        func respond() async throws -> HTTPResponse {
            let response = try await open()
            // It has been read by now, unless an interceptor made one of its own.
            let body = try await response.body.collect(upTo: bodyLimit)
            if let meter = exchange.context.meter,
                meter.progress.direction == .upload || meter.progress.completed == 0
            {
                let count = Int64(body.count)
                meter.record(TransferProgress(direction: .download, completed: count, total: count))
            }
            return HTTPResponse(head: response.head, body: body, requestMethod: exchange.lastMethod)
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
            return try prepared.read(response, as: serializer(snapshot.configuration))
        } catch {
            throw HTTPSessionManager.seen(error, by: prepared.exchange)
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
        let snapshot = snapshot
        let completion = Completion(
            queue: completionQueue(snapshot),
            task: task,
            success: success,
            failure: failure
        )
        let prepared: PreparedCall
        do {
            var call = call
            call.options.progress = task.meter.recording(before: progress ?? call.options.progress)
            prepared = try prepare(call, under: snapshot, meter: task.meter, progressQueue: completion.queue)
        } catch {
            completion.deliver(.failure(error), for: HTTPRequestLine(method: call.method, url: call.url))
            return task
        }
        let serializer = serializer(snapshot.configuration)
        let lanes = lanes
        let carrier = Task(executorPreference: lanes.engine) {
            let result: Result<S.Output, RequestError>
            do {
                let response = try await prepared.respond()
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
            completion.deliver(result, for: HTTPRequestLine(prepared.exchange.request))
        }
        task.attach(carrier)
        return task
    }

    /// What an async caller is thrown: `CancellationError` if it was its own task that was cancelled.
    static func seen(_ error: any Error, by exchange: Exchange) -> any Error {
        let error = RequestError.made(from: error, of: exchange)
        if case .cancelled = error.kind, Task.isCancelled { return CancellationError() }
        return error
    }

    // MARK: From a call to a request

    /// Makes the request of a call.
    /// - Throws: ``RequestError`` for everything that is wrong before any traffic, but for what is checked before each
    ///   transmission.
    private func prepare(
        _ call: Call,
        under snapshot: Snapshot,
        meter: ProgressMeter? = nil,
        progressQueue: DispatchQueue? = nil
    ) throws(RequestError) -> PreparedCall {
        let configuration = snapshot.configuration
        let url: URL
        do {
            url = try RequestURL.url(call.url, base: snapshot.base)
        } catch {
            throw RequestError(.invalidURL, method: call.method, url: call.url, detail: error.reason)
        }
        var request = HTTPRequest(call.method, url: url, headers: configuration.headers)
        do {
            if let form = call.form {
                request.headers.replace(with: call.headers)
                try put(form, call.parameters, into: &request, configuration)
            } else {
                try configuration.requestSerializer.serialize(call.parameters, into: &request)
                request.headers.replace(with: call.headers)
            }
            try configuration.requestCompression?.apply(to: &request)
        } catch {
            throw RequestError.unwritable(error, for: request)
        }
        if configuration.sendsDefaultHeaders {
            for field in DefaultHeaders.all where !request.headers.contains(field.name) {
                request.headers.add(field.value, for: field.name)
            }
        }
        return try prepare(request, call.options, under: snapshot, isBuffered: true) { context in
            context.meter = meter
            context.progressQueue = progressQueue
        }
    }

    /// Makes a form the content of a request, with the parameters as its first fields.
    ///
    /// It comes after the call's header fields: only the form's own `Content-Type` names its boundary.
    private func put(
        _ form: MultipartForm,
        _ parameters: JSONValue?,
        into request: inout HTTPRequest,
        _ configuration: Configuration
    ) throws(SerializationError) {
        var form = form
        if let parameters {
            let style = configuration.requestSerializer as? FormRequestSerializer ?? FormRequestSerializer()
            try form.prepend(parameters: parameters, arrayStyle: style.arrayStyle, boolStyle: style.boolStyle)
        }
        try form.serialize(into: &request)
    }

    /// Lays the options of a call over the configuration.
    func prepare(
        _ request: HTTPRequest,
        _ options: RequestOptions,
        under snapshot: Snapshot,
        isBuffered: Bool,
        completing: (inout TransportContext) -> Void = { _ in }
    ) throws(RequestError) -> PreparedCall {
        let configuration = snapshot.configuration
        let limit = options.responseBodyLimit ?? configuration.responseBodyLimit
        let timeout = min(options.timeout ?? configuration.timeout, .longest)
        let ownPolicy = try policy(for: request, options, configuration)
        var context = TransportContext(
            policy: ownPolicy ?? configuration.securityPolicy,
            policyID: ownPolicy?.policyID ?? snapshot.policyID,
            deadline: configuration.time.now().advanced(by: max(timeout, .zero))
        )
        context.progress = options.progress
        context.hostPolicies = ownPolicy == nil ? configuration.hostPolicies : nil
        context.trustObserver = configuration.trustObserver.map { observer in
            let queue = completionQueue(snapshot)
            return { report in queue.async { observer(report) } }
        }
        context.delivery = isBuffered ? .buffered(limit: limit) : .streamed
        completing(&context)
        return PreparedCall(
            exchange: Exchange(
                request: request,
                context: context,
                transport: transport,
                lanes: lanes,
                time: configuration.time
            ),
            settings: CallSettings(
                interceptors: configuration.interceptors,
                retryPolicy: options.retryPolicy ?? configuration.retryPolicy,
                redirectPolicy: options.redirectPolicy ?? configuration.redirectPolicy,
                isRepeatable: options.isRepeatable
            ),
            bodyLimit: limit
        )
    }

    /// The policy that a call has of its own, from its options or from a named certificate; nil for the manager's.
    private func policy(
        for request: HTTPRequest,
        _ options: RequestOptions,
        _ configuration: Configuration
    ) throws(RequestError) -> SecurityPolicy? {
        if let policy = options.securityPolicy { return policy }
        guard let name = options.signature else { return nil }
        let directories = configuration.certificateDirectories
        let certificates: [Certificate]
        do {
            certificates = try Certificate.load(named: name, in: directories)
        } catch {
            throw RequestError(.certificate(error), for: request)
        }
        guard !certificates.isEmpty else {
            throw RequestError(.certificate(.notFound(name: name, searched: directories)), for: request)
        }
        return SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: Set(certificates),
            allowInvalidCertificates: true,
            validatesDomainName: configuration.signatureValidatesDomainName
        )
    }
}
