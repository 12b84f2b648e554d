import Glibc

/// A connection to a port of 127.0.0.1.
final class PlainClient {
    let descriptor: Int32

    init(port: Int) throws(ServerError) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system("make a socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafeBytes(of: &address) { bytes in
            bytes.baseAddress.map {
                connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            throw .system("connect to port \(port)")
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Sends all bytes; false when the peer is gone.
    @discardableResult
    func send(_ bytes: some Sequence<UInt8>) -> Bool {
        let bytes = Array(bytes)
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
                return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            offset += count
        }
        return true
    }

    /// Whether a byte or the end comes within a time.
    func hasAnswerOrEnd(within limit: Duration) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, limit.milliseconds) > 0
    }

    /// Whether a byte, not the end, comes within a time.
    func hasAnswer(within limit: Duration) -> Bool {
        guard hasAnswerOrEnd(within: limit) else { return false }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, 0) == 1
    }
}
