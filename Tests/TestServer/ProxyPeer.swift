import FoundationEssentials
public import HTTPMessage
import Locks

/// A small proxy inside the process, on 127.0.0.1: HTTP (CONNECT and absolute targets), the same over TLS, or
/// SOCKS 5.
///
/// Every host name leads to 127.0.0.1 without being resolved, so that names of test certificates can be used
/// and a test sees which name the client left to the proxy. Ends with the object, like ``TestServer``.
public final class ProxyPeer: Sendable {
    /// What the proxy speaks to its clients.
    public enum Kind: Sendable {
        /// HTTP/1.1.
        case http
        /// HTTP/1.1 over TLS.
        case https(TLSOptions)
        /// SOCKS 5 (RFC 1928) with names or addresses.
        case socks5
    }

    /// Who may use the proxy.
    public struct Credentials: Sendable, Hashable {
        /// The user's name.
        public var user: String
        /// The password.
        public var password: String

        /// Makes credentials.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// What a client asked the proxy for.
    public struct Passage: Sendable, Hashable {
        /// How it was asked for.
        public enum Means: Sendable, Hashable {
            /// By the method CONNECT.
            case connect
            /// By a request with an absolute target.
            case forward
            /// By SOCKS, with a name (`socks5h`) or with an address.
            case socks(byName: Bool)
        }

        /// How it was asked for.
        public var means: Means
        /// The host as the client wrote it.
        public var host: String
        /// The port.
        public var port: Int
        /// The header fields of the request to the proxy; empty with SOCKS.
        public var headers: HTTPHeaders
    }

    private let core: ProxyCore
    private let server: SocketServer
    private let kind: Kind

    /// Starts a proxy.
    ///
    /// With credentials others are refused: 407 with a challenge for Basic, or SOCKS's own way. With a refusal,
    /// a status as 403 or 502, no tunnel is opened at all. With patience, what the server sends is passed on together
    /// once the server has been silent for so long, over TLS in records as large as they can be.
    public convenience init(
        _ kind: Kind = .http,
        credentials: Credentials? = nil,
        refusal: Int? = nil,
        patience: Duration = .zero
    ) throws {
        let asks: Asks? = credentials.map { .basic($0) }
        try self.init(kind, asking: asks, refusal: refusal, patience: patience)
    }

    /// What the proxy wants to be told before it lets somebody pass.
    package enum Asks: Sendable {
        /// A user's name and password, as they are; with SOCKS too.
        case basic(Credentials)
        /// The proof of a password.
        case digest(DigestGuard)
        /// Something that nobody can answer: this challenge, or none with nil.
        case impossible(String?)
    }

    /// Starts a proxy that may ask in other ways.
    package init(
        _ kind: Kind = .http,
        asking asks: Asks?,
        refusal: Int? = nil,
        patience: Duration = .zero
    ) throws {
        var context: TLSContext?
        if case .https(let options) = kind {
            context = try TLSContext(
                options,
                ticketKeys: (0..<80).map { _ in UInt8.random(in: .min ... .max) }
            )
        }
        self.kind = kind
        core = ProxyCore(
            kind: kind,
            tls: context,
            asks: asks,
            refusal: refusal,
            patience: patience
        )
        server = try SocketServer(.loopback, core.service)
    }

    deinit { stop() }

    /// Closes everything and waits for the threads; a second call does nothing.
    public func stop() {
        server.stop()
    }

    /// The port.
    public var port: Int { server.port }

    /// The proxy's URL, as `http://localhost:PORT` or `socks5h://localhost:PORT`, with credentials if given.
    public func url(_ credentials: Credentials? = nil) -> String {
        let scheme =
            switch kind {
            case .http: "http"
            case .https: "https"
            case .socks5: "socks5h"
            }
        let user = credentials.map { "\($0.user):\($0.password)@" } ?? ""
        return "\(scheme)://\(user)localhost:\(port)"
    }

    /// What went through, in order; refused ones are not among them.
    public var passages: [Passage] { core.passages.withLock { $0 } }

    /// How often credentials were missing or wrong.
    public var refusals: Int { core.refusals.withLock { $0 } }

    /// The field `Proxy-Authorization` of each request to the proxy, in order, those that were refused among them.
    package var authorizations: [String?] { core.authorizations.withLock { $0 } }

    /// Connections and bytes between the client and the proxy.
    public var counters: Counters { core.log.counters }

    /// Waits until the counters fulfil a condition, a pure function of them; false when the limit was reached.
    public func until(
        upTo limit: Duration = .seconds(20),
        _ condition: @escaping @Sendable (Counters) -> Bool
    ) async -> Bool {
        await core.log.until(condition, upTo: limit)
    }
}
