import FoundationEssentials
import Glibc

/// A socket that listens: on a free port, or at a path.
struct ListeningSocket: Sendable {
    let descriptor: Int32
    /// 0 for a unix socket.
    let port: Int
    private let path: String?

    init(_ place: ServerOptions.Listen) throws(ServerError) {
        try self.init(place, listens: true)
    }

    /// Binds a port and does not listen, so that another program may.
    init(reservedOn place: ServerOptions.Listen) throws(ServerError) {
        try self.init(place, listens: false)
    }

    private init(_ place: ServerOptions.Listen, listens: Bool) throws(ServerError) {
        let family =
            switch place {
            case .loopback: AF_INET
            case .loopback6: AF_INET6
            case .unixSocket: AF_UNIX
            }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw .system("make a socket") }
        do throws(ServerError) {
            port = try Self.bind(descriptor, place, listens: listens)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        if case .unixSocket(let path) = place { self.path = path } else { path = nil }
    }

    /// Makes a blocked accept return; the descriptor stays.
    func interrupt() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Closes the descriptor, when nobody accepts any more.
    func end() {
        close(descriptor)
        if let path { unlink(path) }
    }

    private static func bind(
        _ descriptor: Int32,
        _ place: ServerOptions.Listen,
        listens: Bool
    ) throws(ServerError) -> Int {
        var on: Int32 = 1
        if !listens {
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        let bound: Int32
        switch place {
        case .loopback:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            bound = bindAddress(descriptor, &address)
        case .loopback6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            bound = bindAddress(descriptor, &address)
        case .unixSocket(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let room = MemoryLayout.size(ofValue: address.sun_path)
            guard path.utf8.count < room else { throw ServerError("cannot listen at a path that long") }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            bound = bindAddress(descriptor, &address)
        }
        guard bound == 0 else { throw .system("bind a socket") }
        // As many as the system allows: a burst of a thousand clients must not wait for SYN repetition.
        guard !listens || listen(descriptor, 4_096) == 0 else { throw .system("listen") }
        return port(of: descriptor)
    }

    private static func bindAddress<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
        withUnsafeBytes(of: &address) { bytes in
            guard let base = bytes.baseAddress else { return -1 }
            return Glibc.bind(descriptor, base.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }

    private static func port(of descriptor: Int32) -> Int {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            guard getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length) == 0 else {
                return 0
            }
            // The port stands behind the family in both address kinds, in network order.
            let family = Int32(bytes.load(as: sa_family_t.self))
            guard family == AF_INET || family == AF_INET6 else { return 0 }
            return Int(UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self)))
        }
    }
}
