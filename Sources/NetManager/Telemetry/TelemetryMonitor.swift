public import HTTPMessage
import Locks

/// Turns the events of calls into measurements and spans in OpenTelemetry's terms.
///
/// Put it among ``HTTPSessionManager/Configuration/eventMonitors``. Of each attempt it measures
/// `http.client.request.duration`, `http.client.request.body.size`, `http.client.response.body.size` and
/// `http.client.active_requests`, and makes a span. No query, header field or body is in any of it.
public struct TelemetryMonitor: EventMonitor {
    private struct Key: Hashable, Sendable {
        var call: UInt64
        var attempt: Int
    }

    private struct Open: Sendable {
        var start: ContinuousClock.Instant
        var request: HTTPRequest
    }

    private let observer: any TelemetryObserver
    private let open = Guarded<[Key: Open]>([:])

    /// Makes a monitor.
    ///
    /// - Parameter observer: Takes measurements and spans.
    public init(_ observer: any TelemetryObserver) {
        self.observer = observer
    }

    /// Counts the request among the active ones.
    public func attemptStarted(_ attempt: Int, request: HTTPRequest, of call: MonitoredCall) {
        open.withLock { $0[Key(call: call.id, attempt: attempt)] = Open(start: .now, request: request) }
        observer.measured(Self.active(1, request))
    }

    /// Measures the attempt.
    public func attemptEnded(_ end: AttemptEnd, of call: MonitoredCall) {
        let key = Key(call: call.id, attempt: end.attempt)
        guard let open = open.withLock({ $0.removeValue(forKey: key) }) else { return }
        let request = open.request
        observer.measured(Self.active(-1, request))
        let duration = end.metrics?.total ?? open.start.duration(to: .now)
        let attributes = Self.attributes(of: request, end)
        func measure(_ name: String, _ unit: String, _ value: Double) {
            observer.measured(
                TelemetryMeasurement(
                    name: name,
                    instrument: .histogram,
                    unit: unit,
                    value: value,
                    attributes: attributes
                )
            )
        }
        measure("http.client.request.duration", "s", duration / .seconds(1))
        if let metrics = end.metrics {
            measure("http.client.request.body.size", "By", Double(metrics.bodyBytesSent))
            measure("http.client.response.body.size", "By", Double(metrics.bodyBytesReceived))
        }
        observer.spanEnded(Self.span(open.start, duration, request, end, attributes))
    }

    // MARK: Attributes

    /// The methods that RFC 9110 and RFC 5789 know; others are one, so that nobody can make many of them.
    private static let knownMethods: Set<HTTPMethod> = [
        .get, .head, .post, .put, .delete, .connect, .options, .trace, .patch,
    ]

    private static func active(_ change: Double, _ request: HTTPRequest) -> TelemetryMeasurement {
        TelemetryMeasurement(
            name: "http.client.active_requests",
            instrument: .upDownCounter,
            unit: "{request}",
            value: change,
            attributes: server(of: request)
        )
    }

    private static func server(of request: HTTPRequest) -> [String: TelemetryValue] {
        let isKnown = knownMethods.contains(request.method)
        var attributes: [String: TelemetryValue] = [
            "http.request.method": .string(isKnown ? request.method.rawValue : "_OTHER")
        ]
        let scheme = request.url.scheme?.asciiLowercased
        if let scheme { attributes["url.scheme"] = .string(scheme) }
        if let host = request.url.host { attributes["server.address"] = .string(host) }
        if let port = request.url.port ?? (scheme == "https" ? 443 : scheme == "http" ? 80 : nil) {
            attributes["server.port"] = .int(port)
        }
        return attributes
    }

    private static func attributes(of request: HTTPRequest, _ end: AttemptEnd) -> [String: TelemetryValue] {
        var attributes = server(of: request)
        if let status = end.head?.status { attributes["http.response.status_code"] = .int(status) }
        if let type = errorType(of: end) { attributes["error.type"] = .string(type) }
        if let version = end.metrics?.version ?? end.head?.version {
            attributes["network.protocol.name"] = .string("http")
            // "HTTP/1.1" is written "1.1".
            attributes["network.protocol.version"] = .string(String(version.rawValue.dropFirst(5)))
        }
        return attributes
    }

    /// Of few different values: a status as it is, otherwise the error's label; nil for a success.
    private static func errorType(of end: AttemptEnd) -> String? {
        if let status = end.head?.status, status >= 400 { return "\(status)" }
        return end.error?.label
    }

    private static func span(
        _ start: ContinuousClock.Instant,
        _ duration: Duration,
        _ request: HTTPRequest,
        _ end: AttemptEnd,
        _ common: [String: TelemetryValue]
    ) -> TelemetrySpan {
        var attributes = common
        attributes["url.full"] = .string(RequestError.redacted(request.url.absoluteString))
        if !knownMethods.contains(request.method) {
            attributes["http.request.method_original"] = .string(request.method.rawValue)
        }
        if end.attempt > 1 { attributes["http.request.resend_count"] = .int(end.attempt - 1) }
        if let metrics = end.metrics {
            if let address = metrics.remoteAddress { attributes["network.peer.address"] = .string(address) }
            if let port = metrics.remotePort { attributes["network.peer.port"] = .int(port) }
            // "TLSv1.3" is written "1.3".
            if let tls = metrics.tlsVersion {
                attributes["tls.protocol.version"] = .string(
                    String(tls.dropFirst(tls.hasPrefix("TLSv") ? 4 : 0))
                )
            }
            if let suite = metrics.cipherSuite { attributes["tls.cipher"] = .string(suite) }
        }
        return TelemetrySpan(
            name: knownMethods.contains(request.method) ? request.method.rawValue : "HTTP",
            context: TraceContext(headers: request.headers),
            start: start,
            duration: duration,
            attributes: attributes,
            isError: errorType(of: end) != nil
        )
    }
}
