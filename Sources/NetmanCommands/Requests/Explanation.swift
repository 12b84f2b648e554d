import FoundationEssentials
import NetManager
import SecurityPolicy

/// What --explain says about a call.
struct Explanation {
    var end: CallEnd

    /// The lines, without colors.
    var lines: [String] {
        var lines: [String] = []
        for metrics in end.metrics { lines += Self.lines(of: metrics) }
        if let error = end.error, case .untrustedServer = error.kind {
            lines.append("verdict       refused, and nothing of the request was sent")
            for (position, certificate) in (error.serverTrust?.certificates ?? []).enumerated() {
                lines += Self.lines(of: certificate, position)
            }
        }
        lines.append("in all        \(Self.time(end.duration)), \(Self.count(end.attempts, "attempt"))")
        return lines
    }

    private static func lines(of metrics: TransferMetrics) -> [String] {
        var lines: [String] = []
        let address = metrics.remoteAddress.map { host in
            (host.contains(":") ? "[\(host)]" : host) + (metrics.remotePort.map { ":\($0)" } ?? "")
        }
        let connection = metrics.isConnectionReused ? "a connection that was there" : "a new connection"
        lines.append("attempt \(metrics.attempt)     \(address ?? "no address"), \(connection)")
        if let version = metrics.version { lines.append("protocol      \(version.rawValue)") }
        var times: [String] = []
        if metrics.nameLookup > .zero { times.append("name \(time(metrics.nameLookup))") }
        if metrics.connect > .zero { times.append("TCP \(time(metrics.connect))") }
        if metrics.tls > .zero { times.append("TLS \(time(metrics.tls))") }
        if !times.isEmpty { lines.append("connected     " + times.joined(separator: ", ")) }
        let answer = metrics.firstByte > .zero ? "first byte \(time(metrics.firstByte)), " : ""
        lines.append("since start   \(answer)end \(time(metrics.total))")
        lines.append(
            "body          \(metrics.bodyBytesSent) bytes sent, \(metrics.bodyBytesReceived) received"
        )
        if let version = metrics.tlsVersion {
            lines.append("TLS           \(version)" + (metrics.cipherSuite.map { ", \($0)" } ?? ""))
        }
        if let trust = metrics.trust {
            lines.append("verdict       " + verdict(trust))
            if let error = trust.auditedError { lines.append("audit         would be refused: \(error)") }
            for (position, certificate) in trust.path.enumerated() {
                lines += Self.lines(of: certificate, position)
            }
        }
        return lines
    }

    private static func lines(of certificate: Certificate, _ position: Int) -> [String] {
        let day = certificate.notAfter.formatted(.iso8601).prefix(10)
        return [
            "certificate \(position) \(Printable.text(certificate.subject))",
            "              until \(day), \(certificate.keyDescription)",
            "              \(certificate.publicKeyPin)",
        ]
    }

    private static func verdict(_ decision: TrustDecision) -> String {
        let basis =
            switch decision.basis {
            case .systemTrust: "trusted: a valid path to a trust anchor"
            case .pinnedCertificate: "trusted: a valid path to a pinned certificate"
            case .pinnedLeafKey: "trusted: the server's own key is pinned"
            case .pinnedKey: "trusted: a valid path to a pinned key"
            case .everythingAllowed: "let through: the policy accepts every server"
            case .dangerouslyOverruled: "let through: a hook overruled the policy"
            }
        return basis + (decision.matchedPin.map { ",\n              \($0)" } ?? "")
    }

    static func time(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        let tenths = Int((milliseconds * 10).rounded())
        return milliseconds < 100 ? "\(tenths / 10).\(tenths % 10) ms" : "\(tenths / 10) ms"
    }

    private static func count(_ number: Int, _ word: String) -> String {
        "\(number) \(word)" + (number == 1 ? "" : "s")
    }
}
