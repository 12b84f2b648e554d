public import HTTPMessage
public import Serializers

// POST with a form of fields, files and streams (RFC 7578). The parameters become the form's first fields, named as in
// a query; a `Content-Type` among the header fields is replaced by the form's, which names its boundary.

extension HTTPSessionManager {
    /// Makes a POST request whose content is a form.
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - parameters: Fields that stand before the form's own.
    ///   - headers: Header fields of this call.
    ///   - options: What is done otherwise than the configuration says.
    ///   - form: The form; it is sent part by part, without being held in memory as a whole.
    /// - Returns: The JSON of a response that is accepted; `.null` when it has no content.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func post(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        form: MultipartForm
    ) async throws -> JSONValue {
        try await value(
            of: .post,
            url,
            parameters,
            headers,
            options,
            content: .form(form),
            choosing: \.responseSerializer
        )
    }

    /// Makes a POST request whose content is a form.
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - parameters: Fields that stand before the form's own.
    ///   - headers: Header fields of this call.
    ///   - options: What is done otherwise than the configuration says.
    ///   - form: The form.
    ///   - serializer: Reads the response.
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func post<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        form: MultipartForm,
        as serializer: S
    ) async throws -> S.Output {
        try await value(of: .post, url, parameters, headers, options, content: .form(form), as: serializer)
    }

    /// Makes a POST request whose content is a form; exactly one of the closures is called, once.
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - parameters: Fields that stand before the form's own.
    ///   - headers: Header fields of this call.
    ///   - options: What is done otherwise than the configuration says.
    ///   - form: The form.
    ///   - success: Called with the JSON of a response that is accepted.
    ///   - failure: Called with the error.
    ///   - progress: Told how far the upload, and then the download, has come.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func post(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        form: MultipartForm,
        success: (@Sendable (RequestTask, JSONValue) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = posting(form, to: url, parameters, headers, options)
        return start(call, as: \.responseSerializer, success: success, failure: failure, progress: progress)
    }

    /// Makes a POST request whose content is a form; exactly one of the closures is called, once.
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - parameters: Fields that stand before the form's own.
    ///   - headers: Header fields of this call.
    ///   - options: What is done otherwise than the configuration says.
    ///   - form: The form.
    ///   - serializer: Reads the response.
    ///   - success: Called with what the serializer makes of the response.
    ///   - failure: Called with the error.
    ///   - progress: Told how far the upload, and then the download, has come.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func post<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        form: MultipartForm,
        as serializer: S,
        success: (@Sendable (RequestTask, S.Output) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = posting(form, to: url, parameters, headers, options)
        return start(call, as: { _ in serializer }, success: success, failure: failure, progress: progress)
    }

    private func posting(
        _ form: MultipartForm,
        to url: String,
        _ parameters: JSONValue?,
        _ headers: HTTPHeaders,
        _ options: RequestOptions
    ) -> Call {
        Call(
            method: .post,
            url: url,
            parameters: parameters,
            headers: headers,
            options: options,
            content: .form(form)
        )
    }
}
