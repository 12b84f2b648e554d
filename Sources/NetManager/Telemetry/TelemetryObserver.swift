/// Takes measurements and spans in OpenTelemetry's terms, to hand them to whatever library a program uses.
///
/// The names are those of the semantic conventions for HTTP clients. The methods are called on a manager's event
/// queue. Each has a default that does nothing. Files to copy for swift-log, swift-metrics and swift-distributed-tracing
/// are in the folder Bridges of the repository.
public protocol TelemetryObserver: Sendable {
    /// Something was measured.
    func measured(_ measurement: TelemetryMeasurement)
    /// An attempt of a request is over.
    func spanEnded(_ span: TelemetrySpan)
}

extension TelemetryObserver {
    /// Does nothing.
    public func measured(_ measurement: TelemetryMeasurement) {}
    /// Does nothing.
    public func spanEnded(_ span: TelemetrySpan) {}
}

/// The value of an attribute.
public enum TelemetryValue: Sendable, Hashable, CustomStringConvertible {
    /// Text.
    case string(String)
    /// A number.
    case int(Int)

    /// The value as text.
    public var description: String {
        switch self {
        case .string(let text): text
        case .int(let number): "\(number)"
        }
    }
}

/// One measurement.
public struct TelemetryMeasurement: Sendable, Hashable {
    /// What is done with the values.
    public enum Instrument: Sendable, Hashable {
        /// Their distribution is kept.
        case histogram
        /// They are added up; they may be negative.
        case upDownCounter
    }

    /// The instrument's name, as `http.client.request.duration`.
    public var name: String
    /// The instrument's kind.
    public var instrument: Instrument
    /// The unit: `s`, `By` or `{request}` (UCUM).
    public var unit: String
    /// The value.
    public var value: Double
    /// Attributes of few different values: method, server, status, error, protocol.
    public var attributes: [String: TelemetryValue]
}

/// One attempt of a request, as a span of the kind client.
public struct TelemetrySpan: Sendable {
    /// The name: the method, or `HTTP` for one that is not usual.
    public var name: String
    /// The context that the request carried to the server; nil where none was.
    public var context: TraceContext?
    /// When the attempt began.
    public var start: ContinuousClock.Instant
    /// How long it took.
    public var duration: Duration
    /// Everything that is known; `url.full` is without user info, query and fragment.
    public var attributes: [String: TelemetryValue]
    /// Whether it failed: an error, or a status of 400 or more.
    public var isError: Bool
}
