// swift-format-ignore-file
// What Bridges/ServiceLifecycleBridge.swift uses of swift-service-lifecycle, for the compiler only.
public protocol Service: Sendable {
    func run() async throws
}

public func gracefulShutdown() async throws {}
