import COpenSSL
import FoundationEssentials
import Glibc
import TestPKI
import TestServer
import Testing

/// A blocking client that sends and reads bytes, so that the server is tested by nothing of its own.
final class TestClient {
    private let descriptor: Int32
    private var context: OpaquePointer?
    private var ssl: OpaquePointer?

    convenience init(_ server: TestServer) throws {
        try self.init(port: server.port)
    }

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        // A server that says nothing fails the test instead of hanging it.
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// The port that it calls from.
    var port: Int { Self.port { getsockname(descriptor, $0, $1) } ?? 0 }

    /// The descriptors of this process that are connected to it: the server's end.
    ///
    /// Both ports are compared: the system lets clients of different servers call from one port.
    var otherEnds: [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let server = Self.port { getpeername(descriptor, $0, $1) }
        return names.compactMap { Int32($0) }.filter { other in
            Self.port { getpeername(other, $0, $1) } == port
                && Self.port { getsockname(other, $0, $1) } == server
        }
    }

    /// The port of an IPv4 address that a call of the system writes; nil where there is none.
    private static func port(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
        guard result == 0, Int32(address.sin_family) == AF_INET else { return nil }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
        close(descriptor)
    }

    /// What a handshake is asked for.
    struct Wish {
        var anchor: IssuedCertificate
        var maximum = TLSVersion.tls13
        var name = "localhost"
        var client: Identity?
        var session: OpaquePointer?
        var asksForOCSP = false
    }

    /// Does a handshake; false when it fails.
    func startTLS(_ wish: Wish) -> Bool {
        ERR_clear_error()
        context = SSL_CTX_new(TLS_client_method())
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(wish.maximum.rawValue), nil)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        let anchor = wish.anchor.der.withUnsafeBytes { bytes in
            var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return d2i_X509(nil, &cursor, bytes.count)
        }
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), anchor)
        X509_free(anchor)
        if let client = wish.client {
            SSL_CTX_use_certificate_ASN1(
                context,
                Int32(client.certificateDER.count),
                [UInt8](client.certificateDER)
            )
            let key = [UInt8](client.key.der)
            SSL_CTX_use_PrivateKey_ASN1(EVP_PKEY_EC, context, key, key.count)
        }
        ssl = SSL_new(context)
        SSL_set_alpn_protos(ssl, [8] + Array("http/1.1".utf8), 9)
        _ = wish.name.withCString { name in
            SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, 0, UnsafeMutableRawPointer(mutating: name))
        }
        if wish.asksForOCSP {
            SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_STATUS_REQ_TYPE, Int(TLSEXT_STATUSTYPE_ocsp), nil)
        }
        if let session = wish.session { SSL_set_session(ssl, session) }
        SSL_set_fd(ssl, descriptor)
        return withoutSIGPIPE { SSL_connect(ssl) == 1 }
    }

    /// The session to resume, to be freed by `SSL_SESSION_free`; with TLS 1.3 only after a read.
    func session() -> OpaquePointer? { SSL_get1_session(ssl) }

    /// The stapled response.
    func stapled() -> Data {
        var bytes: UnsafeMutablePointer<UInt8>?
        let length = SSL_ctrl(ssl, SSL_CTRL_GET_TLSEXT_STATUS_REQ_OCSP_RESP, 0, &bytes)
        guard let bytes, length > 0 else { return Data() }
        return Data(bytes: bytes, count: length)
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        if let ssl {
            withoutSIGPIPE { _ = SSL_write(ssl, bytes, Int32(bytes.count)) }
        } else {
            Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// At most so many bytes of a plain connection; fewer at its end.
    func take(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = recv(descriptor, &bytes, count, Int32(MSG_WAITALL))
        return Array(bytes.prefix(max(0, taken)))
    }

    /// Everything up to the server's end, or until the text holds a mark.
    func read(until mark: String? = nil) -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while mark.map({ !text.contains($0) }) ?? true {
            let count =
                ssl.map { Int(SSL_read($0, &buffer, Int32(buffer.count))) }
                ?? recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            text += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
        return text
    }

    /// Sends a GET and reads the answer up to a mark.
    func get(_ target: String = "/", until mark: String? = nil) -> String {
        send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return read(until: mark)
    }
}

/// OpenSSL writes without MSG_NOSIGNAL; the signal of a server that left is swallowed on this thread only, so
/// that other tests in the process would still die of theirs.
private func withoutSIGPIPE<Result>(_ body: () -> Result) -> Result {
    var pipe = sigset_t()
    var old = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipe, &old)
    defer {
        var now = timespec()
        sigtimedwait(&pipe, nil, &now)
        pthread_sigmask(SIG_SETMASK, &old, nil)
    }
    return body()
}
