/// How a ``TestServer`` listens, what it keeps, and its hooks before a handler is asked.
public struct ServerOptions: Sendable {
    /// Where to listen; the port is always a free one that the system picks.
    public var listen = Listen.loopback
    /// Bytes of a request body that are kept, 4 MiB; what is more is counted only.
    public var bodyLimit = 4 << 20
    /// Whether requests are kept in ``TestServer/requests``; switch it off for long benchmarks.
    public var recordsRequests = true
    /// Bytes of a request's head that are read before it is answered with 431: 1 MiB.
    public var headLimit = 1 << 20
    /// How long a connection may idle before the next request; nil waits for the client.
    public var idleTimeout: Duration?
    /// What happens to a new connection before a byte is read, TLS handshake included.
    ///
    /// It is given the number of the connection, from 0, and called on its thread.
    public var onConnect: @Sendable (Int) -> ConnectAction = { _ in .proceed }
    /// What happens when the head of a request is read, before its body.
    ///
    /// It is called on the connection's thread.
    public var onHead: @Sendable (ReceivedRequest) -> HeadAction = { _ in .readBody }

    /// Makes the options described at each property.
    public init() {}

    /// A copy with changes.
    public func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }

    /// Where a server listens.
    public enum Listen: Sendable, Hashable {
        /// 127.0.0.1.
        case loopback
        /// ::1.
        case loopback6
        /// A unix socket at a path of at most 107 bytes, removed at the end.
        case unixSocket(String)
    }

    /// What to do with a new connection.
    public enum ConnectAction: Sendable {
        /// Serve it.
        case proceed
        /// Serve it when the gate opens; with TLS the handshake waits too.
        case proceedAfter(Gate)
        /// Send bytes as they are, below any TLS, then close: `.sendThenClose(tlsAlert: 40)`.
        case sendThenClose([UInt8])
        /// Close it.
        case close
        /// Reset it.
        case reset
        /// Say nothing until the client leaves or the server stops.
        case stall

        /// A fatal TLS alert in answer to the client's hello, as 40 (handshake failure; RFC 8446, section 6).
        public static func sendThenClose(tlsAlert description: UInt8) -> Self {
            .sendThenClose(Step.alertRecord(description))
        }
    }

    /// What to do with a request whose head is read.
    public enum HeadAction: Sendable {
        /// Read the body, with 100 Continue to those who ask for it.
        case readBody
        /// Read the body without 100 Continue.
        case readBodySilently
        /// Read nothing until the gate opens, then the body: the client's upload backs up.
        case readBodyAfter(Gate)
        /// Answer without the body, then close.
        case answer(Answer)
    }
}
