/// How urgent a request is, beside others that wait for a connection: 0…1.
///
/// Where the number of connections is limited (``CurlTransport/Configuration``), the most urgent of those that wait goes
/// first, and of equally urgent ones the one that came first. Requests that share an HTTP/2 connection do not wait.
///
/// Servers are told nothing of it. The weights of HTTP/2 streams are deprecated (RFC 9113, section 5.3.1) and most servers
/// do not read them; the `Priority` field (RFC 9218) asks a server to prefer some of *its* work to other work, which is not
/// what this number is about. Who wants that sets the field: `headers["Priority"] = "u=1"`.
public struct RequestPriority: RawRepresentable, Sendable, Hashable, Comparable, ExpressibleByFloatLiteral {
    /// The number; values out of 0…1 are taken to the nearer end.
    public let rawValue: Float

    /// Makes a priority of a number.
    public init(rawValue: Float) {
        // Not a number compares with nothing.
        self.rawValue = rawValue >= 0 ? min(rawValue, 1) : 0
    }

    /// Makes a priority of a number.
    public init(floatLiteral value: Float) {
        self.init(rawValue: value)
    }

    /// After everything else: 0.25, as `URLSessionTask.lowPriority`.
    public static let low: RequestPriority = 0.25
    /// The usual one: 0.5.
    public static let normal: RequestPriority = 0.5
    /// Before everything else: 0.75, as `URLSessionTask.highPriority`.
    public static let high: RequestPriority = 0.75

    /// Orders by urgency.
    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}
