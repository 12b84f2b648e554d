import COpenSSL
import Glibc
import HTTPMessage
import Locks
public import TestPKI

/// An HTTP/1.1 server inside the process, on the loopback interface: for tests, samples and benchmarks.
///
/// Every connection has a thread of its own, so handlers may block. The server ends with the object: the last
/// reference, or ``stop()``, closes all sockets and waits for all threads.
///
/// The limit of open descriptors of the process is raised as far as the system allows, once.
public final class TestServer: Sendable {
    /// Answers a request; called on the connection's thread, an error becomes a response 500.
    public typealias Handler = @Sendable (ReceivedRequest) throws -> Answer

    private let core: ServerCore
    private let server: SocketServer
    private let tlsOptions: Guarded<TLSOptions?>
    private let ticketKeys: [UInt8]

    /// Starts a server; with TLS when there are options for it.
    public init(
        tls: TLSOptions? = nil,
        options: ServerOptions = ServerOptions(),
        handler: @escaping Handler
    ) throws {
        raiseDescriptorLimit()
        // 80 is the size that OpenSSL asks for: a name, a MAC key and a cipher key.
        ticketKeys = (0..<80).map { _ in UInt8.random(in: .min ... .max) }
        let keys = ticketKeys
        let context = try tls.map { try TLSContext($0, ticketKeys: keys) }
        tlsOptions = Guarded(tls)
        core = ServerCore(options: options, tls: context, handler: handler)
        server = try SocketServer(options.listen, core.service)
    }

    deinit { stop() }

    /// Closes everything and waits for the threads; a second call does nothing.
    ///
    /// Not to be called by a handler, which would wait for itself.
    public func stop() {
        server.stop()
    }

    /// The port; 0 at a unix socket.
    public var port: Int { server.port }

    /// Whether the server speaks TLS.
    public var isSecure: Bool { tlsOptions.withLock { $0 != nil } }

    /// A URL of this server: `https://localhost:PORT/path`, or http without TLS.
    ///
    /// The target is appended as it is and begins with a slash.
    public func url(_ target: String = "/", host: String = "localhost") -> String {
        "\(isSecure ? "https" : "http")://\(host):\(port)\(target)"
    }

    /// What was counted so far.
    public var counters: Counters { core.log.counters }

    /// Every connection so far, in order.
    public var connections: [ConnectionRecord] { core.log.connections }

    /// Every request so far whose body was read or answered early, in that order.
    public var requests: [ReceivedRequest] { core.log.requests }

    /// Waits until the counters fulfil a condition, a pure function of them.
    ///
    /// The limit keeps a faulty test from hanging; the answer is false when it was reached.
    public func until(
        upTo limit: Duration = .seconds(20),
        _ condition: @escaping @Sendable (Counters) -> Bool
    ) async -> Bool {
        await core.log.until(condition, upTo: limit)
    }

    /// Presents another identity from the next connection on; tickets of old sessions stay good.
    ///
    /// Throws for a server without TLS.
    public func present(_ identity: Identity) throws {
        try changeTLS { $0.identity = identity }
    }

    /// Changes the TLS options from the next connection on; throws for a server without TLS.
    public func changeTLS(_ change: (inout TLSOptions) -> Void) throws {
        let current = tlsOptions.withLock { $0 }
        guard var options = current else { throw ServerError("cannot change TLS: the server has none") }
        change(&options)
        core.tls = try TLSContext(options, ticketKeys: ticketKeys)
        let changed = options
        tlsOptions.withLock { $0 = changed }
    }

    /// Closes all open connections, as a server that restarts; new ones are served.
    public func closeConnections() {
        server.closeConnections()
    }
}

/// Two descriptors a connection, both ends in one process, soon exceed the usual soft limit of 1024.
private func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    guard limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
