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
        /// What is sent instead of what the request serializer makes of the parameters; nil, as mostly, for that.
        var content: Content?
    }

    /// The content that a call brings along.
    ///
    /// Indirect, as most calls have none and hold the room for it while they wait.
    indirect enum Content: Sendable {
        /// A form, whose first fields are the parameters.
        case form(MultipartForm)
        /// Bytes as they are, instead of parameters.
        case body(HTTPBody)
    }

    // MARK: The two styles

    // The async style: every verb goes through one of these two.
    //
    // What a call holds while it waits are the frames of its async functions, and they hold whatever exists when one of them
    // waits, or begins: a struct that is handed on, or the room for a typed error. So these two are inlined into the verbs,
    // and what comes before the waiting takes the arguments as they are.

    /// Makes a call and waits for what a serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    @inline(__always)
    func value<S: ResponseSerializer>(
        of method: HTTPMethod,
        _ url: String,
        _ parameters: JSONValue?,
        _ headers: HTTPHeaders,
        _ options: RequestOptions,
        content: Content? = nil,
        as serializer: S
    ) async throws -> S.Output {
        try await ready(method, url, parameters, headers, options, content).prepared.value(as: serializer)
    }

    /// The same with a serializer that the configuration chooses.
    @inline(__always)
    func value<S: ResponseSerializer>(
        of method: HTTPMethod,
        _ url: String,
        _ parameters: JSONValue?,
        _ headers: HTTPHeaders,
        _ options: RequestOptions,
        content: Content? = nil,
        choosing serializer: (Configuration) -> S
    ) async throws -> S.Output {
        let (prepared, snapshot) = try ready(method, url, parameters, headers, options, content)
        return try await prepared.value(as: serializer(snapshot.configuration))
    }

    @inline(never)
    private func ready(
        _ method: HTTPMethod,
        _ url: String,
        _ parameters: JSONValue?,
        _ headers: HTTPHeaders,
        _ options: RequestOptions,
        _ content: Content?
    ) throws -> (prepared: PreparedCall, snapshot: Snapshot) {
        let snapshot = snapshot
        let call = Call(
            method: method,
            url: url,
            parameters: parameters,
            headers: headers,
            options: options,
            content: content
        )
        return (try prepare(call, under: snapshot), snapshot)
    }

    /// The closure style: every verb and every result type goes through here.
    ///
    /// The request is made on the caller's thread, so that the task begins on the engine's at once.
    ///
    /// Made once more for the usual serializer with a type of its own: of types that are not known before it runs, the run
    /// time has to find each one that is made of them, an optional output for instance, 300 instructions each.
    @_specialize(where S == DataResponseSerializer)
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
            failure: failure
        )
        let prepared: PreparedCall
        do {
            var company = CallCompany(task: task)
            company.progress = task.meter.recording(before: progress ?? call.options.progress)
            company.progressQueue = completion.queue
            prepared = try prepare(call, under: snapshot, with: company)
        } catch {
            completion.refuse(error)
            return task
        }
        let serializer = serializer(snapshot.configuration)
        let isReadByLibrary = HTTPSessionManager.isLibrarySerializer(serializer)
        let flight: ClosureCall =
            TypedCall(prepared, completion, isReadByLibrary: isReadByLibrary, serializer, success)
        flight.begin()
        return task
    }

    /// Whether a serializer is the library's own.
    ///
    /// The usual ones are told by their types; asking the run time is as dear as a fiftieth of a small request.
    private static func isLibrarySerializer<S: ResponseSerializer>(_ serializer: S) -> Bool {
        S.self == JSONResponseSerializer.self || S.self == DataResponseSerializer.self
            || S.self == StringResponseSerializer.self || serializer is any LibrarySerializer
    }

    /// What an async caller is thrown: `CancellationError` if it was its own task that was cancelled.
    ///
    /// Monitors are told of the end.
    @inline(never)
    static func ended(by error: any Error, _ exchange: Exchange) -> any Error {
        let error = RequestError.made(from: error, of: exchange)
        exchange.ended(nil, error)
        if case .cancelled = error.kind, Task.isCancelled { return CancellationError() }
        return error
    }
}
