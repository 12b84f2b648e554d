public import HTTPMessage
public import Serializers

// The verbs with closures. Exactly one of `success` and `failure` is called, exactly once, on the completion queue, and
// never before the verb has returned its task. `progress` stands last so that trailing closures go to the other two.
// `success` has no default: `let json = try await manager.get("users")` in top-level code would otherwise pick this
// style.

extension HTTPSessionManager {
    /// Makes a GET request; parameters go into the query.
    ///
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func get(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        success: (@Sendable (RequestTask, JSONValue) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .get, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: \.responseSerializer, success: success, failure: failure, progress: progress)
    }

    /// Makes a HEAD request; parameters go into the query.
    ///
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func head(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        success: (@Sendable (RequestTask, HTTPResponse.Head) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .head, url: url, parameters: parameters, headers: headers, options: options)
        return start(
            call,
            as: { HeadSerializer($0.responseSerializer) },
            success: success,
            failure: failure,
            progress: progress
        )
    }

    /// Makes a POST request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func post(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        success: (@Sendable (RequestTask, JSONValue) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .post, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: \.responseSerializer, success: success, failure: failure, progress: progress)
    }

    /// Makes a PUT request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func put(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        success: (@Sendable (RequestTask, JSONValue) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .put, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: \.responseSerializer, success: success, failure: failure, progress: progress)
    }

    /// Makes a PATCH request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func patch(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        success: (@Sendable (RequestTask, JSONValue) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .patch, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: \.responseSerializer, success: success, failure: failure, progress: progress)
    }

    /// Makes a DELETE request; parameters go into the query.
    ///
    /// - Returns: The task, for cancelling and for its progress.
    @discardableResult
    public func delete(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        success: (@Sendable (RequestTask, JSONValue) -> Void)?,
        failure: (@Sendable (RequestTask, RequestError) -> Void)? = nil,
        progress: ProgressHandler? = nil
    ) -> RequestTask {
        let call = Call(method: .delete, url: url, parameters: parameters, headers: headers, options: options)
        return start(call, as: \.responseSerializer, success: success, failure: failure, progress: progress)
    }
}
