import COpenSSL
import FoundationEssentials
import Glibc

/// The bytes of one accepted connection, plain or over TLS, blocking.
///
/// Belongs to the connection's thread; only the server's stop shuts the socket down from outside.
final class Wire {
    /// The connection ended, or the server stops: what is going on with it ends too.
    struct Ended: Error {}

    let descriptor: Int32
    private let log: ServerLog
    private let id: Int
    private var ssl: OpaquePointer?

    init(descriptor: Int32, id: Int, log: ServerLog) {
        self.descriptor = descriptor
        self.id = id
        self.log = log
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Frees the TLS state; the descriptor is closed by its owner.
    func free() {
        SSL_free(ssl)
        ssl = nil
    }

    /// Does the server's side of a handshake.
    func handshake(_ context: TLSContext) throws {
        ERR_clear_error()
        guard let ssl = SSL_new(context.pointer) else { throw ServerError.openSSL("start TLS") }
        self.ssl = ssl
        SSL_set_fd(ssl, descriptor)
        guard SSL_accept(ssl) == 1 else {
            let error = ServerError.openSSL("finish the handshake")
            log.handshakeFailed(id, serverName: serverName, reason: error.description)
            throw error
        }
        log.handshakeDone(id, details(of: ssl))
    }

    private var serverName: String? {
        ssl.flatMap { SSL_get_servername($0, TLSEXT_NAMETYPE_host_name) }.map { String(cString: $0) }
    }

    private func details(of ssl: OpaquePointer) -> ConnectionRecord.TLS {
        var chosen: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &chosen, &length)
        let name = UnsafeBufferPointer(start: chosen, count: Int(length))
        var client: Data?
        if let certificate = SSL_get1_peer_certificate(ssl) {
            defer { X509_free(certificate) }
            var bytes = Data(count: Int(max(0, i2d_X509(certificate, nil))))
            bytes.withUnsafeMutableBytes { buffer in
                var cursor = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
                i2d_X509(certificate, &cursor)
            }
            client = bytes
        }
        return ConnectionRecord.TLS(
            version: TLSVersion(rawValue: SSL_version(ssl)),
            cipherSuite: String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl))),
            isResumed: SSL_session_reused(ssl) == 1,
            serverName: serverName,
            applicationProtocol: name.isEmpty ? nil : String(decoding: name, as: UTF8.self),
            clientCertificate: client
        )
    }

    /// Reads what is there, at least one byte; 0 at the end or after an error.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var count = 0
        if let ssl {
            ERR_clear_error()
            guard SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count) == 1 else { return 0 }
        } else {
            repeat {
                count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            } while count < 0 && errno == EINTR
        }
        guard count > 0 else { return 0 }
        log.received(count, on: id)
        return count
    }

    /// Writes all bytes.
    func write(_ bytes: some Sequence<UInt8>) throws(Ended) {
        let result = bytes.withContiguousStorageIfAvailable {
            send(UnsafeRawBufferPointer($0), encrypted: true)
        }
        let sent = result ?? Array(bytes).withUnsafeBytes { send($0, encrypted: true) }
        guard sent else { throw Ended() }
    }

    /// Writes bytes to the socket, below TLS.
    func writeUnencrypted(_ bytes: [UInt8]) throws(Ended) {
        guard bytes.withUnsafeBytes({ send($0, encrypted: false) }) else { throw Ended() }
    }

    private func send(_ bytes: UnsafeRawBufferPointer, encrypted: Bool) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            var count = 0
            if encrypted, let ssl {
                ERR_clear_error()
                guard SSL_write_ex(ssl, rest.baseAddress, rest.count, &count) == 1 else { return false }
            } else {
                count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
            }
            offset += count
            log.sent(count, on: id)
        }
        return true
    }

    /// Ends our direction: close_notify with TLS, then FIN.
    func halfClose() {
        sendCloseNotify()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func sendCloseNotify() {
        guard let ssl else { return }
        ERR_clear_error()
        SSL_shutdown(ssl)
    }

    /// Makes the closing of the descriptor, by its owner, a reset: RST instead of FIN.
    func resetOnClose() {
        var option = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<Glibc.linger>.size))
    }

    /// Waits for a gate; throws when the client leaves or the server stops first.
    func wait(for gate: Gate?, stop: Gate, upTo limit: Duration? = nil) throws(Ended) {
        gate?.arrive()
        var entries = [
            pollfd(fd: gate?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
            // Only the client's end counts here: its bytes may wait. 0x2000 is POLLRDHUP.
            pollfd(fd: descriptor, events: 0x2000, revents: 0),
        ]
        while true {
            let count = poll(&entries, nfds_t(entries.count), limit?.milliseconds ?? -1)
            if count < 0, errno == EINTR { continue }
            if entries[1].revents != 0 { throw Ended() }
            if entries[0].revents != 0 || count == 0 { return }
            throw Ended()
        }
    }

    /// Whether bytes, or the end, come within a time; TLS may hold some already.
    func hasInput(within limit: Duration) -> Bool {
        if let ssl, SSL_pending(ssl) > 0 { return true }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, limit.milliseconds) > 0
    }

    /// Reads and drops what the client still sends, so that closing does not turn into a reset that would take
    /// our last bytes from it.
    func endInGoodOrder() {
        halfClose()
        var scrap = [UInt8](repeating: 0, count: 65_536)
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // A second is enough for a client on the same machine to see the end.
            guard poll(&entry, 1, 1_000) > 0 else { return }
            guard recv(descriptor, &scrap, scrap.count, 0) > 0 else { return }
        }
    }
}
