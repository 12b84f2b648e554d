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
        try await value(of: .get, url, parameters, headers, options, choosing: \.responseSerializer)
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
        try await value(of: .get, url, parameters, headers, options, as: serializer)
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
        try await value(of: .head, url, parameters, headers, options) {
            HeadSerializer($0.responseSerializer)
        }
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
        try await value(of: .head, url, parameters, headers, options, as: serializer)
    }

    /// Makes a POST request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: The JSON of a response that is accepted; `.null` when it has no content.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func post(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init()
    ) async throws -> JSONValue {
        try await value(of: .post, url, parameters, headers, options, choosing: \.responseSerializer)
    }

    /// Makes a POST request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func post<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S
    ) async throws -> S.Output {
        try await value(of: .post, url, parameters, headers, options, as: serializer)
    }

    /// Makes a PUT request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: The JSON of a response that is accepted; `.null` when it has no content.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func put(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init()
    ) async throws -> JSONValue {
        try await value(of: .put, url, parameters, headers, options, choosing: \.responseSerializer)
    }

    /// Makes a PUT request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func put<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S
    ) async throws -> S.Output {
        try await value(of: .put, url, parameters, headers, options, as: serializer)
    }

    /// Makes a PATCH request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: The JSON of a response that is accepted; `.null` when it has no content.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func patch(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init()
    ) async throws -> JSONValue {
        try await value(of: .patch, url, parameters, headers, options, choosing: \.responseSerializer)
    }

    /// Makes a PATCH request; parameters go into the body.
    ///
    /// The manager's request serializer writes them, by default as a form. `JSONValue(user)` makes parameters of any
    /// `Encodable` value.
    /// - Returns: What the serializer makes of the response.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func patch<S: ResponseSerializer>(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        as serializer: S
    ) async throws -> S.Output {
        try await value(of: .patch, url, parameters, headers, options, as: serializer)
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
        try await value(of: .delete, url, parameters, headers, options, choosing: \.responseSerializer)
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
        try await value(of: .delete, url, parameters, headers, options, as: serializer)
    }
}
