public import HTTPMessage

/// Hands the trace that a task belongs to on to servers: the fields `traceparent` and `tracestate`.
///
/// Put it among ``HTTPSessionManager/Configuration/interceptors``. Each request becomes a span of its own below the
/// task's. A redirect to another origin carries neither field.
public struct TracePropagation: Interceptor {
    /// The trace that the current task belongs to; nil outside of one.
    @TaskLocal public static var current: TraceContext?

    private let isWanted: @Sendable (HTTPRequest) -> Bool

    /// Makes the interceptor.
    ///
    /// - Parameter isWanted: Which requests carry the trace; all by default. Leave out servers that are not yours: the
    ///   identifiers tell them which requests belong together.
    public init(where isWanted: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }) {
        self.isWanted = isWanted
    }

    /// Adds the fields, unless the request has them.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
        var request = request
        if let current = Self.current, !request.headers.contains("traceparent"), isWanted(request) {
            current.child().inject(into: &request.headers)
        }
        return try await next(request)
    }
}
