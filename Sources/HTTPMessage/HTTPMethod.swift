/// A request method (RFC 9110, section 9).
///
/// The set is open: any token is a method.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The method's name as it stands on the wire.
    ///
    /// Methods are case-sensitive (RFC 9110, section 9.1).
    public let rawValue: String

    /// Makes a method of any name.
    ///
    /// A name that is no token is refused when the request is sent.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes a method of a literal name.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// GET (RFC 9110, section 9.3.1).
    public static let get: HTTPMethod = "GET"
    /// HEAD (RFC 9110, section 9.3.2).
    public static let head: HTTPMethod = "HEAD"
    /// POST (RFC 9110, section 9.3.3).
    public static let post: HTTPMethod = "POST"
    /// PUT (RFC 9110, section 9.3.4).
    public static let put: HTTPMethod = "PUT"
    /// DELETE (RFC 9110, section 9.3.5).
    public static let delete: HTTPMethod = "DELETE"
    /// CONNECT (RFC 9110, section 9.3.6).
    ///
    /// The manager refuses it: tunnels are libcurl's own matter.
    public static let connect: HTTPMethod = "CONNECT"
    /// OPTIONS (RFC 9110, section 9.3.7).
    public static let options: HTTPMethod = "OPTIONS"
    /// TRACE (RFC 9110, section 9.3.8).
    public static let trace: HTTPMethod = "TRACE"
    /// PATCH (RFC 5789).
    public static let patch: HTTPMethod = "PATCH"

    /// Whether sending the request twice has the effect of sending it once (RFC 9110, section 9.2.2).
    ///
    /// False for a method that is not known here.
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace: true
        default: false
        }
    }

    /// Whether the request only reads (RFC 9110, section 9.2.1).
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        default: false
        }
    }
}

extension HTTPMethod: CustomStringConvertible {
    /// The method's name.
    public var description: String { rawValue }
}
