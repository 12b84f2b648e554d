import Dispatch
public import HTTPMessage
public import Serializers

extension HTTPSessionManager {
    /// Downloads a file.
    ///
    /// The content is written beside the target under another name, put onto the disk (fsync), and renamed when it is
    /// complete, so that the target is never seen in parts. Only a content of an acceptable status becomes a file. When
    /// the download fails or is cancelled, the target is as it was, and nothing is left beside it but what
    /// ``DownloadOptions/resumes`` keeps.
    ///
    /// Under a ``RetryPolicy`` a content that breaks off is continued within the call: after the policy's wait its rest is
    /// asked for (`Range`, `If-Range`), or all of it again where the server cannot do that or the content has changed.
    /// This too happens within the timeout only.
    ///
    /// The timeout ends with the head of the response. The content may take as long as it likes, as long as it does not
    /// stand still for ``Timeouts/idle``. It is not held in memory.
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - parameters: The query.
    ///   - headers: Header fields of this call.
    ///   - options: What is done otherwise than the configuration says.
    ///   - path: The path of the file; a relative one is below the working directory.
    ///   - settings: What happens to an existing file, whether to resume, and what the content must be.
    /// - Returns: What has become a file.
    /// - Throws: ``RequestError``, of kind ``RequestError/Kind/file(_:)`` for everything that the system says against the
    ///   file; `CancellationError` when the calling task was cancelled.
    public func download(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        to path: String,
        settings: DownloadOptions = .init()
    ) async throws -> DownloadedFile {
        let call = Call(method: .get, url: url, parameters: parameters, headers: headers, options: options)
        let meter = options.progressUpdates.map { _ in ProgressMeter() }
        defer { meter?.finish() }
        let download = try download(call, under: snapshot, to: path, settings, meter: meter)
        let exchange = download.prepared.exchange
        do {
            let file = try await download.run()
            exchange.ended(file.head, nil)
            return file
        } catch {
            throw HTTPSessionManager.ended(by: error, exchange)
        }
    }

    /// Downloads a file, as ``download(_:parameters:headers:options:to:settings:)`` does; exactly one of the closures
    /// is called, once.
    ///
    /// A cancellation that comes when the file has its name already leaves it there.
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - parameters: The query.
    ///   - headers: Header fields of this call.
    ///   - options: What is done otherwise than the configuration says.
    ///   - path: The path of the file.
    ///   - settings: What happens to an existing file, whether to resume, and what the content must be.
    ///   - success: Called with what has become a file.
    ///   - failure: Called with the error.
    ///   - progress: Told how much of the file is there, what was resumed included.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func download(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        to path: String,
        settings: DownloadOptions = .init(),
        success: (@Sendable (RequestTask, DownloadedFile) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let task = RequestTask()
        if options.startsSuspended { task.suspend() }
        let snapshot = snapshot
        let completion = Completion(
            queue: snapshot.completionQueue,
            ownLanes: snapshot.configuration.completionQueue == nil ? lanes : nil,
            task: task,
            failure: failure
        )
        var call = Call(method: .get, url: url, parameters: parameters, headers: headers, options: options)
        if let handler = task.meter.recording(before: progress ?? options.progress) {
            call.options.progress = handler
        }
        let download: Download
        do {
            download = try self.download(
                call,
                under: snapshot,
                to: path,
                settings,
                for: task,
                meter: task.meter,
                completion.queue
            )
        } catch {
            completion.refuse(error)
            return task
        }
        let exchange = download.prepared.exchange
        // Without the engine's executor: files are written here.
        let carrier = Task {
            do {
                let file = try await download.run()
                completion.enqueue {
                    completion.call(nil, exchange, file.head) { success?(task, file) }
                }
            } catch {
                let error = RequestError.made(from: error, of: exchange)
                completion.enqueue { completion.call(error, exchange, nil) {} }
            }
        }
        task.control.setCarrier(carrier.cancel)
        return task
    }

    private func download(
        _ call: Call,
        under snapshot: Snapshot,
        to path: String,
        _ settings: DownloadOptions,
        for task: RequestTask? = nil,
        meter: ProgressMeter?,
        _ queue: DispatchQueue? = nil
    ) throws(RequestError) -> Download {
        let handler = call.options.progress
        // How much of the file is there is known where it is written, and not by the engine.
        var call = call
        if let updates = call.options.progressUpdates.take() { meter?.tell(updates) }
        if handler != nil { call.options.progress = nil }
        let company = CallCompany(task: task, writesProgress: false)
        let prepared = try prepare(call, under: snapshot, streaming: .drained, with: company)
        let reporter = handler.map { ProgressReporter(handler: $0, queue: queue) }
        return Download(
            prepared: prepared,
            target: path,
            options: settings,
            progress: DownloadProgress(reporter: reporter, meter: meter)
        )
    }
}
