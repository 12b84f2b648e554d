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

    /// The open socket that has a local port; nil when there is none.
    func descriptor(atLocalPort port: Int) -> Int32? {
        open.first { Self.localPort(of: $0) == port }
    }

    private static func localPort(of descriptor: Int32) -> Int? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard let base = bytes.baseAddress,
                getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length) == 0
            else { return nil }
            let family = Int32(bytes.load(as: sa_family_t.self))
            guard family == AF_INET || family == AF_INET6 else { return nil }
            // The port stands behind the family in both kinds of addresses, in network order.
            return Int(UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self)))
        }
    }
}
