public import HTTPMessage
public import SecurityPolicy

/// What one attempt of a request cost, and how it was carried.
public struct TransferMetrics: Sendable, Hashable {
    /// Which attempt it was, from 1.
    public var attempt: Int
    /// From the start to the resolved name (CURLINFO_NAMELOOKUP_TIME_T); zero on a reused connection.
    public var nameLookup: Duration
    /// From the start to the TCP connection (CURLINFO_CONNECT_TIME_T); zero on a reused connection.
    public var connect: Duration
    /// From the start to the end of the TLS handshake (CURLINFO_APPCONNECT_TIME_T); zero without one.
    public var tls: Duration
    /// From the start to the first byte of the response (CURLINFO_STARTTRANSFER_TIME_T); zero without one.
    public var firstByte: Duration
    /// From the start to the end (CURLINFO_TOTAL_TIME_T).
    public var total: Duration
    /// Bytes of the request's body that were sent.
    public var bodyBytesSent: Int64
    /// Bytes of the response's body that were received, before decoding.
    public var bodyBytesReceived: Int64
    /// Whether the connection had carried a request before.
    public var isConnectionReused: Bool
    /// The address that was connected to; nil when none was.
    public var remoteAddress: String?
    /// The port that was connected to; nil when none was.
    public var remotePort: Int?
    /// The protocol of the response; nil without one.
    public var version: HTTPVersion?
    /// The TLS version in OpenSSL's words, such as `TLSv1.3`; nil without TLS.
    public var tlsVersion: String?
    /// The cipher suite in OpenSSL's words; nil without TLS.
    public var cipherSuite: String?
    /// Why the server was trusted; nil without TLS or when it was not.
    public var trust: TrustDecision?
}
