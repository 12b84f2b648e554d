// Copy this file into a target that depends on NetManager and on Logging (apple/swift-log).
import Logging
import NetManager

extension RequestLog {
    /// Writes calls to a logger at the level debug: no query, header field or body is in them.
    ///
    ///     configuration.eventMonitors = [RequestLog(logger: Logger(label: "http"))]
    init(logger: Logger, level: Logger.Level = .debug) {
        self.init { line in logger.log(level: level, "\(line)") }
    }
}

/// Writes servers that pins would have refused, or did refuse, at the level warning.
///
///     configuration.trustObserver = trustLog(logger)
func trustLog(_ logger: Logger) -> @Sendable (TrustReport) -> Void {
    { report in
        logger.warning(
            "\(report.isAudit ? "would refuse" : "refused") \(report.host):\(report.port)",
            metadata: [
                "reason": .string(report.reason),
                "presented": .string(report.presentedPins.map(\.description).joined(separator: " ")),
                "expected": .string(report.expectedPins.map(\.description).joined(separator: " ")),
            ]
        )
    }
}
