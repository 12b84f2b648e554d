import Glibc

/// Sockets whose connections carry many requests inside of two layers of TLS, and which of them must be read again
/// although the kernel has nothing more for them.
///
/// A record of the outer layer can hold several of the inner one. libcurl (7.88 to date) reads until the transfer that
/// it is at has something, and lets the others go on when the socket is readable: what is left of the outer record is
/// not in the socket any more, so that they would lie until the peer sends something else. Whenever a transfer gets
/// something, its socket is therefore read once more, until that brings nothing.
final class UnreadSockets {
    /// All that are open, tunnels for one request at a time included.
    private var open: Set<Int32> = []
    private var noted: Set<Int32> = []

    /// A socket to an https proxy was opened.
    func adopt(_ descriptor: Int32) {
        open.insert(descriptor)
    }

    /// A socket is about to be closed.
    func forget(_ descriptor: Int32) {
        open.remove(descriptor)
        noted.remove(descriptor)
    }

    /// A transfer on a socket got something, or ended.
    func note(_ descriptor: Int32) {
        // It may have been closed meanwhile.
        if open.contains(descriptor) { noted.insert(descriptor) }
    }

    /// The sockets to read again.
    func take() -> Set<Int32> {
        guard !noted.isEmpty else { return [] }
        defer { noted = [] }
        return noted
    }

    /// The open socket of a connection; nil when there is none.
    ///
    /// One local port may serve many connections, to different peers or from different addresses.
    func descriptor(between ends: ConnectionEnds) -> Int32? {
        guard let remote = ends.remote.end, let local = ends.local.end else { return nil }
        return open.first { SocketEnd.local(of: $0) == local && SocketEnd.remote(of: $0) == remote }
    }
}
