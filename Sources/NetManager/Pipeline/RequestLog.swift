import HTTPMessage
import SecurityPolicy

/// Writes one line for each call that ends, and one for each refused server: no query, header field or body in it.
///
///     GET https://h/users 200 in 34 ms, 1204 bytes from 192.0.2.1:443, HTTP/2, TLSv1.3
///     GET https://h/users failed in 60003 ms: timed_out_first_byte, 3 attempts
public struct RequestLog: EventMonitor {
    private let write: @Sendable (String) -> Void

    /// Makes a log.
    /// - Parameter write: Takes a line without its end; called on the manager's event queue.
    public init(_ write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    /// Writes the line of a call.
    public func callEnded(_ end: CallEnd, of call: MonitoredCall) {
        var text = RequestLog.name(call.request)
        if let error = end.error {
            text += " failed in \(end.duration.milliseconds) ms: \(error.label)"
        } else if let head = end.head {
            text += " \(head.status) in \(end.duration.milliseconds) ms"
        }
        if end.attempts > 1 { text += ", \(end.attempts) attempts" }
        if let metrics = end.metrics.last { text += RequestLog.describe(metrics) }
        write(text)
    }

    /// Writes a line about a server that is not trusted, with the reason.
    public func trustRefused(_ error: TrustError, request: HTTPRequest, of call: MonitoredCall) {
        // A pin that does not match is told in several lines.
        let lines = "\(error)".split(separator: "\n").map(\.trimmingOptionalWhitespace)
        write("\(RequestLog.name(request)) server refused: \(lines.joined(separator: " "))")
    }

    private static func name(_ request: HTTPRequest) -> String {
        "\(request.method) \(RequestError.redacted(request.url.absoluteString))"
    }

    private static func describe(_ metrics: TransferMetrics) -> String {
        var text = ", \(metrics.bodyBytesReceived) bytes"
        if let address = metrics.remoteAddress {
            let host = address.contains(":") ? "[\(address)]" : address
            text += " from \(host)" + (metrics.remotePort.map { ":\($0)" } ?? "")
        }
        if let version = metrics.version { text += ", \(version.rawValue)" }
        if let tls = metrics.tlsVersion { text += ", \(tls)" }
        return text
    }
}
