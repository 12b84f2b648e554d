/// How long each stage of a request may take, beside the time for the whole call.
///
/// A limit that passes fails the attempt as ``RequestError/Kind/timedOut(_:)`` with the stage's name. Nil sets none. The
/// limits are kept to the millisecond.
public struct Timeouts: Sendable, Hashable {
    /// Waiting for a place among the connections, where their number is limited; nil by default.
    public var queue: Duration?
    /// Resolving the name and making the TCP connection; nil by default.
    public var connect: Duration?
    /// The TLS handshake; nil by default.
    public var tls: Duration?
    /// From the sending of the request, or of the last piece of its body, to the first byte of the response; nil by
    /// default.
    public var firstByte: Duration?
    /// Without a byte of the response's body while somebody waits for one; 60 seconds by default.
    ///
    /// A reader that does not read is not counted.
    public var idle: Duration? = .seconds(60)

    /// Makes limits of the defaults.
    public init() {}
}
