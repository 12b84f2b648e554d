import CLinux
import Glibc
import SecurityPolicy
import Testing

@testable import NetManager

@Suite struct UnreadSocketsTests {
    /// A socket of an address and port that is connected to another one.
    private struct Pair: ~Copyable {
        let near: Int32
        private let listener: Int32

        // Both ends have the address; the near one has the port, or for 0 one that is free.
        init(_ address: String, port: UInt16) throws {
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            near = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var far = try Self.address(address, port: 0)
            try #require(Self.call(bind, listener, &far) == 0 && listen(listener, 1) == 0)
            far = try Self.address(address, port: try #require(SocketEnd.local(of: listener)).port)
            var own = try Self.address(address, port: port)
            try #require(Self.call(bind, near, &own) == 0 && Self.call(connect, near, &far) == 0)
        }

        deinit {
            close(near)
            close(listener)
        }

        private static func address(_ text: String, port: UInt16) throws -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            try #require(inet_pton(AF_INET, text, &address.sin_addr) == 1)
            return address
        }

        private static func call(
            _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32,
            _ descriptor: Int32,
            _ address: inout sockaddr_in
        ) -> Int32 {
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }

    @Test func `a socket is found by both ends, as two may have one local port`() throws {
        let first = try Pair("127.0.0.1", port: 0)
        let port = try #require(SocketEnd.local(of: first.near)).port
        let second = try Pair("127.0.0.2", port: port)
        let sockets = UnreadSockets()
        let descriptors = [first.near, second.near]
        for descriptor in descriptors { sockets.adopt(descriptor) }
        for (descriptor, address) in zip(descriptors, ["127.0.0.1", "127.0.0.2"]) {
            let remote = try #require(SocketEnd.remote(of: descriptor))
            let found = address.withCString { text in
                sockets.descriptor(
                    between: ConnectionEnds(
                        remote: .init(address: text, port: Int32(remote.port)),
                        local: .init(address: text, port: Int32(port))
                    )
                )
            }
            #expect(found == descriptor)
            let other = address.withCString { text in
                sockets.descriptor(
                    between: ConnectionEnds(
                        remote: .init(address: text, port: Int32(remote.port ^ 1)),
                        local: .init(address: text, port: Int32(port))
                    )
                )
            }
            #expect(other == nil)
        }
        sockets.forget(first.near)
    }
}
