// Copy this file into a target that depends on NetManager and on Tracing (apple/swift-distributed-tracing).
import NetManager
import Tracing

/// Makes a span of each request and puts its context into the header fields.
///
///     configuration.interceptors = [TracingInterceptor()]
struct TracingInterceptor: Interceptor {
    private struct HeaderInjector: Injector {
        func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) {
            headers[key] = value
        }
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> StreamedResponse {
        try await withSpan(request.method.rawValue, ofKind: .client) { span in
            var request = request
            InstrumentationSystem.instrument.inject(
                span.context,
                into: &request.headers,
                using: HeaderInjector()
            )
            span.attributes["http.request.method"] = request.method.rawValue
            if let host = request.url.host { span.attributes["server.address"] = host }
            if let port = request.url.port { span.attributes["server.port"] = port }
            do {
                let response = try await next(request)
                span.attributes["http.response.status_code"] = response.head.status
                if response.head.status >= 400 { span.setStatus(SpanStatus(code: .error)) }
                return response
            } catch let error as RequestError {
                span.attributes["error.type"] = error.label
                throw error
            }
        }
    }
}
