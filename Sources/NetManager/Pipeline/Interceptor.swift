public import HTTPMessage

/// A step that every request of a manager passes: it may change the request, answer it, send it several times, or
/// change the response.
///
/// Interceptors stand in ``HTTPSessionManager/Configuration/interceptors``, the first one outermost. They see a call
/// once: retries and redirects happen behind them. They run on Swift's own threads, never on the engine's.
///
/// ```swift
/// struct Signing: Interceptor {
///     func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
///         var request = request
///         request.headers["X-Signature"] = signature(of: request)
///         return try await next(request)
///     }
/// }
/// configuration.interceptors = [Signing()]
/// ```
public protocol Interceptor: Sendable {
    /// Sends a request on to the next step.
    typealias Next = @Sendable (HTTPRequest) async throws -> StreamedResponse

    /// Handles one request.
    /// - Parameters:
    ///   - request: The request as the manager or the interceptor before made it.
    ///   - next: The rest of the way. A body that can be sent once cannot be sent by two calls of it.
    /// - Returns: The response, of the next step or one's own.
    /// - Throws: What `next` throws, or an error of one's own, which reaches the caller as
    ///   ``RequestError/Kind/custom(_:)``.
    func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse
}
