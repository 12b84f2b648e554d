import HTTPMessage
import SecurityPolicy

/// What was measured of an attempt, as libcurl says it; made ``TransferMetrics`` for those who ask.
///
/// A call with closures keeps this whether somebody asks or not, and durations, trust decisions and what is made of them
/// take three times as much to make and to copy.
struct MeasuredAttempt: Sendable {
    /// What a handshake has come to.
    ///
    /// A class, as most of what is measured is without.
    final class Handshake: Sendable {
        let version: String?
        let cipherSuite: String?
        let trust: TrustDecision?

        init(version: String?, cipherSuite: String?, trust: TrustDecision?) {
            self.version = version
            self.cipherSuite = cipherSuite
            self.trust = trust
        }
    }

    /// Which attempt it was, from 1.
    let number: Int
    // Microseconds from the start.
    let nameLookup, connect, tls, firstByte, total: Int64
    let bodyBytesSent, bodyBytesReceived: Int64
    let isConnectionReused: Bool
    let remoteAddress: String?
    /// The port that was connected to; 0 when none was.
    let remotePort: Int
    let version: HTTPVersion?
    /// Nil without TLS.
    let handshake: Handshake?

    /// The same for those who ask.
    var metrics: TransferMetrics {
        TransferMetrics(
            attempt: number,
            nameLookup: .microseconds(nameLookup),
            connect: .microseconds(connect),
            tls: .microseconds(tls),
            firstByte: .microseconds(firstByte),
            total: .microseconds(total),
            bodyBytesSent: bodyBytesSent,
            bodyBytesReceived: bodyBytesReceived,
            isConnectionReused: isConnectionReused,
            remoteAddress: remoteAddress,
            remotePort: remotePort > 0 ? remotePort : nil,
            version: version,
            tlsVersion: handshake?.version,
            cipherSuite: handshake?.cipherSuite,
            trust: handshake?.trust
        )
    }
}
