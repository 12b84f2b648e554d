// swift-format-ignore-file
// What Bridges/LoggingBridge.swift uses of swift-log, for the compiler only.
public struct Logger: Sendable {
    public enum Level: Sendable { case trace, debug, info, notice, warning, error, critical }
    public struct Message: Sendable, ExpressibleByStringInterpolation {
        public init(stringLiteral value: String) {}
    }
    public enum MetadataValue: Sendable { case string(String) }
    public typealias Metadata = [String: MetadataValue]

    public init(label: String) {}
    public func log(level: Level, _ message: @autoclosure () -> Message) {}
    public func warning(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {}
}
