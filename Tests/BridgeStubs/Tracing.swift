// swift-format-ignore-file
// What Bridges/TracingBridge.swift uses of swift-distributed-tracing, for the compiler only.
public struct ServiceContext: Sendable {}

public protocol Injector: Sendable {
    associatedtype Carrier
    func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

public protocol SpanAttributeConvertible: Sendable {}
extension String: SpanAttributeConvertible {}
extension Int: SpanAttributeConvertible {}

public struct SpanAttributes: Sendable {
    public subscript(name: String) -> (any SpanAttributeConvertible)? {
        get { nil }
        set {}
    }
}

public enum SpanKind: Sendable { case client, `internal` }

public struct SpanStatus: Sendable {
    public enum Code: Sendable { case ok, error }
    public init(code: Code, message: String? = nil) {}
}

public protocol Span: AnyObject, Sendable {
    var context: ServiceContext { get }
    var attributes: SpanAttributes { get set }
    func setStatus(_ status: SpanStatus)
}

public protocol Instrument: Sendable {
    func inject<Carrier, Inject: Injector>(_ context: ServiceContext, into carrier: inout Carrier, using: Inject)
    where Inject.Carrier == Carrier
}

public struct NoInstrument: Instrument {
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using: Inject
    ) where Inject.Carrier == Carrier {}
}

public enum InstrumentationSystem {
    public static var instrument: any Instrument { NoInstrument() }
}

public func withSpan<Result>(
    _ operationName: String,
    ofKind kind: SpanKind = .internal,
    _ operation: (any Span) async throws -> Result
) async rethrows -> Result { fatalError("for the compiler only") }
