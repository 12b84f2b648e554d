import Glibc

/// A socket to the kernel's routing tables.
///
/// The descriptor is closed with the object; there is no state besides.
final class NetlinkSocket: Sendable {
    enum Reading: Equatable {
        case batch(NetlinkBatch)
        /// There is nothing at the moment.
        case nothing
        /// Messages were lost.
        case overflow
        case failure(errno: Int32)
    }

    let descriptor: Int32

    /// sockaddr_nl of linux/netlink.h.
    private struct Address {
        var family: UInt16 = 16
        var padding: UInt16 = 0
        var port: UInt32 = 0
        var groups: UInt32 = 0
    }

    /// nlmsghdr and rtgenmsg.
    private struct Request {
        var length: UInt32 = 20
        var type: UInt16
        /// NLM_F_REQUEST and NLM_F_DUMP.
        var flags: UInt16 = 0x301
        var sequence: UInt32
        var port: UInt32 = 0
        /// Any family.
        var family: UInt32 = 0
    }

    /// Opens a socket; with news, it hears of changes of interfaces and routes.
    init(withNews: Bool) throws(ReachabilityError) {
        let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let opened = socket(16, type, 0)
        guard opened >= 0 else { throw Self.failure("open a netlink socket", errno) }
        // RTMGRP_LINK, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_ROUTE.
        var address = Address(groups: withNews ? 0x1 | 0x40 | 0x400 : 0)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(opened, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard result == 0 else {
            let code = errno
            close(opened)
            throw Self.failure("listen to the routing tables", code)
        }
        // Last, since an object that is complete is closed by `deinit` even where `init` throws.
        descriptor = opened
    }

    deinit { close(descriptor) }

    /// Sends a request.
    func ask(_ request: NetlinkDump.Request) throws(ReachabilityError) {
        var message = Request(type: request.type, sequence: request.sequence)
        let count = withUnsafeBytes(of: &message) {
            send(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count == MemoryLayout<Request>.size else {
            throw Self.failure("ask for the routing tables", errno)
        }
    }

    /// Reads one datagram; one that does not come from the kernel is passed over.
    func read() -> Reading {
        // The kernel makes datagrams of a dump up to 32 KiB.
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer in
            while true {
                var address = Address()
                var length = socklen_t(MemoryLayout<Address>.size)
                let count = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        recvfrom(descriptor, buffer.baseAddress, buffer.count, 0, $0, &length)
                    }
                }
                if count < 0 {
                    switch errno {
                    case EINTR: continue
                    case EAGAIN: return .nothing
                    case ENOBUFS: return .overflow
                    case let code: return .failure(errno: code)
                    }
                }
                // Port 0 is the kernel's: other processes may send to this socket too.
                guard address.port == 0 else { continue }
                return .batch(NetlinkReader.batch(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
            }
        }
    }

    static func failure(_ what: String, _ code: Int32) -> ReachabilityError {
        ReachabilityError(description: "Cannot \(what): \(String(cString: strerror(code))).")
    }
}
