public import HTTPMessage
public import Serializers

// The verbs with closures and a serializer of the caller's choice: all else is as in the untyped ones.

extension HTTPSessionManager {
    /// Makes a GET request; parameters go into the query.
    ///
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func get<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S,
        success: (@Sendable (RequestTask, S.Output) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .get, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: { _ in serializer }, success: success, failure: failure, progress: progress)
    }

    /// Makes a HEAD request; parameters go into the query.
    ///
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func head<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S,
        success: (@Sendable (RequestTask, S.Output) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .head, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: { _ in serializer }, success: success, failure: failure, progress: progress)
    }

    /// Makes a POST request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func post<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S,
        success: (@Sendable (RequestTask, S.Output) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .post, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: { _ in serializer }, success: success, failure: failure, progress: progress)
    }

    /// Makes a PUT request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func put<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S,
        success: (@Sendable (RequestTask, S.Output) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .put, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: { _ in serializer }, success: success, failure: failure, progress: progress)
    }

    /// Makes a PATCH request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func patch<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S,
        success: (@Sendable (RequestTask, S.Output) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .patch, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: { _ in serializer }, success: success, failure: failure, progress: progress)
    }

    /// Makes a DELETE request; parameters go into the query.
    ///
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func delete<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S,
        success: (@Sendable (RequestTask, S.Output) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .delete, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: { _ in serializer }, success: success, failure: failure, progress: progress)
    }
}
