// swift-format-ignore-file
// What Bridges/MetricsBridge.swift uses of swift-metrics, for the compiler only.
public final class Recorder: Sendable {
    public init(label: String, dimensions: [(String, String)] = [], aggregate: Bool = true) {}
    public func record(_ value: some BinaryFloatingPoint) {}
}

public final class Meter: Sendable {
    public init(label: String, dimensions: [(String, String)] = []) {}
    public func increment(by amount: some BinaryFloatingPoint) {}
    public func decrement(by amount: some BinaryFloatingPoint) {}
}
