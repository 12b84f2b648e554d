public import HTTPMessage
public import Serializers

// The verbs with `await`. They differ in their method and their result and share everything else: parameters are
// written by the configuration's request serializer; `headers` replace fields of the same names; the URL may be relative
// to the base URL. All throw ``RequestError``, or `CancellationError` when the calling task was cancelled.

extension HTTPSessionManager {
    /// Makes a GET request; parameters go into the query.
    ///
    /// - Returns: The JSON of a response that is accepted; `.null` when it has no content.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func get(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init()
    ) async throws -> JSONValue {
        let call = Call(method: .get, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call, as: \.responseSerializer)
    }

    /// Makes a GET request; parameters go into the query.
    ///
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func get<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S
    ) async throws -> S.Output {
        let call = Call(method: .get, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call) { _ in serializer }
    }

    /// Makes a HEAD request; parameters go into the query.
    ///
    /// - Returns: The head of a response whose status is accepted.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func head(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init()
    ) async throws -> HTTPResponse.Head {
        let call = Call(method: .head, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call, as: { HeadSerializer($0.responseSerializer) })
    }

    /// Makes a HEAD request; parameters go into the query.
    ///
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func head<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S
    ) async throws -> S.Output {
        let call = Call(method: .head, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call) { _ in serializer }
    }

    /// Makes a POST request; parameters go into the body.
    ///
    /// - Returns: The JSON of a response that is accepted; `.null` when it has no content.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func post(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init()
    ) async throws -> JSONValue {
        let call = Call(method: .post, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call, as: \.responseSerializer)
    }

    /// Makes a POST request; parameters go into the body.
    ///
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func post<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S
    ) async throws -> S.Output {
        let call = Call(method: .post, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call) { _ in serializer }
    }

    /// Makes a PUT request; parameters go into the body.
    ///
    /// - Returns: The JSON of a response that is accepted; `.null` when it has no content.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func put(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init()
    ) async throws -> JSONValue {
        let call = Call(method: .put, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call, as: \.responseSerializer)
    }

    /// Makes a PUT request; parameters go into the body.
    ///
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func put<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S
    ) async throws -> S.Output {
        let call = Call(method: .put, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call) { _ in serializer }
    }

    /// Makes a PATCH request; parameters go into the body.
    ///
    /// - Returns: The JSON of a response that is accepted; `.null` when it has no content.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func patch(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init()
    ) async throws -> JSONValue {
        let call = Call(method: .patch, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call, as: \.responseSerializer)
    }

    /// Makes a PATCH request; parameters go into the body.
    ///
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func patch<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S
    ) async throws -> S.Output {
        let call = Call(method: .patch, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call) { _ in serializer }
    }

    /// Makes a DELETE request; parameters go into the query.
    ///
    /// - Returns: The JSON of a response that is accepted; `.null` when it has no content.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func delete(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init()
    ) async throws -> JSONValue {
        let call = Call(method: .delete, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call, as: \.responseSerializer)
    }

    /// Makes a DELETE request; parameters go into the query.
    ///
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func delete<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S
    ) async throws -> S.Output {
        let call = Call(method: .delete, url: url, parameters: parameters, headers: headers, options: options)
        return try await value(of: call) { _ in serializer }
    }
}
