import Glibc
import SecurityPolicy

/// The two ends of a connection, as libcurl tells them before a request is sent.
///
/// They are texts that are read only where somebody asks, and valid as long as the callback lasts.
struct ConnectionEnds {
    /// One end in libcurl's words.
    struct Told {
        private let text: UnsafePointer<CChar>?
        private let port: Int32

        init(address: UnsafePointer<CChar>?, port: Int32) {
            text = address
            self.port = port
        }

        /// The address; nil for a socket that has none, as one of the file system.
        var address: IPAddress? { text.flatMap { IPAddress(text: String(cString: $0)) } }
        var end: SocketEnd? { address.map { SocketEnd(address: $0, port: UInt16(truncatingIfNeeded: port)) } }
    }

    let remote: Told
    let local: Told
}

/// Address and port of one end of a connection over IP.
struct SocketEnd: Hashable {
    let address: IPAddress
    let port: UInt16

    init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// The near end of a socket; nil for one that is not over IP.
    static func local(of descriptor: Int32) -> SocketEnd? {
        SocketEnd { getsockname(descriptor, $0, $1) }
    }

    /// The far end of a socket; nil for one that is not connected, or not over IP.
    static func remote(of descriptor: Int32) -> SocketEnd? {
        SocketEnd { getpeername(descriptor, $0, $1) }
    }

    private init?(_ fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let end = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> SocketEnd? in
                guard fill(address, &length) == 0, let ip = IPAddress(UnsafePointer(address)) else {
                    return nil
                }
                // The port stands behind the family in both kinds of addresses, in network order.
                let port = UnsafeRawPointer(address).load(fromByteOffset: 2, as: UInt16.self)
                return SocketEnd(address: ip, port: UInt16(bigEndian: port))
            }
        }
        guard let end else { return nil }
        self = end
    }
}
