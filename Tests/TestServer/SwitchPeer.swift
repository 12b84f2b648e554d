import Locks

/// A balancer below TLS on 127.0.0.1: carries the bytes of each connection to a server of its own, in the order in which
/// they come.
///
/// So one name leads to servers that speak different versions of HTTP, as while a service is being renewed.
package final class SwitchPeer: Sendable {
    private let server: SocketServer

    /// Starts it.
    /// - Parameter ports: Of 127.0.0.1, where the first connections lead; later ones lead to the last.
    /// - Throws: ``ServerError`` when it does not start.
    package init(_ ports: [Int]) throws {
        let log = ServerLog()
        let rest = Guarded(ports)
        server = try SocketServer(
            .loopback,
            .init(
                accepted: { _ in },
                serve: { descriptor, id, stop in
                    let port = rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
                    let wire = Wire(descriptor: descriptor, id: id, log: log)
                    guard let relay = try? Relay(to: port, client: wire, stop: stop) else { return }
                    try? relay.run(first: [])
                },
                ended: { _ in }
            )
        )
    }

    deinit { server.stop() }

    /// A URL of the peer: `https://localhost:PORT/path`.
    package func url(_ target: String = "/") -> String {
        "https://localhost:\(server.port)\(target)"
    }
}
