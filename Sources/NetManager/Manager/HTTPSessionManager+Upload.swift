public import HTTPMessage
public import Serializers

// A body as it is: a file, bytes, or a sequence, sent as fast as the server takes them and never held as a whole. Where
// the caller names no Content-Type, a file gets that of its name's ending, and everything else
// application/octet-stream.

extension HTTPSessionManager {
    /// Uploads a file, bytes or a sequence: `upload("photos", from: .file("/p.jpg"))`.
    ///
    /// The timeout counts for the whole call; raise it for large bodies (``RequestOptions/timeout``).
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - body: The content. A file or bytes can be sent again for a redirect or a retry, a sequence cannot.
    ///   - method: The method; POST by default.
    ///   - headers: Header fields of this call.
    ///   - options: What is done otherwise than the configuration says.
    /// - Returns: The JSON of a response that is accepted; `.null` when it has no content.
    /// - Throws: ``RequestError``, of kind ``RequestError/Kind/file(_:)`` when the file cannot be read;
    ///   `CancellationError` when the calling task was cancelled.
    public func upload(
        _ url: String,
        from body: HTTPBody,
        method: HTTPMethod = .post,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init()
    ) async throws -> JSONValue {
        try await value(
            of: method,
            url,
            nil,
            headers,
            options,
            content: .body(body),
            choosing: \.responseSerializer
        )
    }

    /// Uploads a file, bytes or a sequence.
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - body: The content.
    ///   - method: The method; POST by default.
    ///   - headers: Header fields of this call.
    ///   - options: What is done otherwise than the configuration says.
    ///   - serializer: Reads the response.
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func upload<S: ResponseSerializer>(
        _ url: String,
        from body: HTTPBody,
        method: HTTPMethod = .post,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S
    ) async throws -> S.Output {
        try await value(of: method, url, nil, headers, options, content: .body(body), as: serializer)
    }

    /// Uploads a file, bytes or a sequence; exactly one of the closures is called, once.
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - body: The content.
    ///   - method: The method; POST by default.
    ///   - headers: Header fields of this call.
    ///   - options: What is done otherwise than the configuration says.
    ///   - success: Called with the JSON of a response that is accepted.
    ///   - failure: Called with the error.
    ///   - progress: Told how far the upload, and then the download of the response, has come.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func upload(
        _ url: String,
        from body: HTTPBody,
        method: HTTPMethod = .post,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        success: (@Sendable (RequestTask, JSONValue) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = uploading(body, to: url, method, headers, options)
        return start(call, as: \.responseSerializer, success: success, failure: failure, progress: progress)
    }

    /// Uploads a file, bytes or a sequence; exactly one of the closures is called, once.
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - body: The content.
    ///   - method: The method; POST by default.
    ///   - headers: Header fields of this call.
    ///   - options: What is done otherwise than the configuration says.
    ///   - serializer: Reads the response.
    ///   - success: Called with what the serializer makes of the response.
    ///   - failure: Called with the error.
    ///   - progress: Told how far the upload, and then the download of the response, has come.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func upload<S: ResponseSerializer>(
        _ url: String,
        from body: HTTPBody,
        method: HTTPMethod = .post,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S,
        success: (@Sendable (RequestTask, S.Output) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = uploading(body, to: url, method, headers, options)
        return start(call, as: { _ in serializer }, success: success, failure: failure, progress: progress)
    }

    private func uploading(
        _ body: HTTPBody,
        to url: String,
        _ method: HTTPMethod,
        _ headers: HTTPHeaders,
        _ options: RequestOptions
    ) -> Call {
        Call(
            method: method,
            url: url,
            parameters: nil,
            headers: headers,
            options: options,
            content: .body(body)
        )
    }
}
