import HTTPMessage
import Locks

/// What the threads of a ``TestServer`` share; does not know that one.
final class ServerCore: Sendable {
    let options: ServerOptions
    let handler: TestServer.Handler
    let log = ServerLog()
    private let context: Guarded<TLSContext?>

    init(options: ServerOptions, tls: TLSContext?, handler: @escaping TestServer.Handler) {
        self.options = options
        self.handler = handler
        context = Guarded(tls)
    }

    /// What new connections use; nil without TLS.
    var tls: TLSContext? {
        get { context.withLock { $0 } }
        set { context.withLock { $0 = newValue } }
    }

    /// What is done with the connections of the server.
    var service: SocketServer.Service {
        SocketServer.Service(
            accepted: { [log] in log.accepted($0) },
            serve: { [self] descriptor, id, stop in
                let wire = Wire(descriptor: descriptor, id: id, log: log)
                Connection(core: self, wire: wire, id: id, stop: stop).run()
                wire.free()
            },
            ended: { [log] in log.ended($0) }
        )
    }
}
