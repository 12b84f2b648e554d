import COpenSSL

/// The certificates that a server has sent, kept with its TLS session.
///
/// A resumed session shows no certificates, and the policy is evaluated over those of its first handshake. libcurl keeps
/// sessions as OpenSSL writes them since 8.12, and OpenSSL writes the server's own certificate but none of the chain
/// (i2d_SSL_SESSION(3)). So the rest goes into the session's application data, which is written along and never leaves
/// the process. It proves nothing by itself: a path is searched through it anew, from the certificate that the session
/// is bound to.
enum SessionChain {
    /// Puts the certificates behind the server's own into the session of a handshake that has just verified them.
    static func keep(_ others: ArraySlice<[UInt8]>, in ssl: OpaquePointer) {
        guard !others.isEmpty, let session = SSL_get_session(ssl) else { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(others.reduce(0) { $0 + 4 + $1.count })
        for certificate in others {
            withUnsafeBytes(of: UInt32(clamping: certificate.count)) { bytes += $0 }
            bytes += certificate
        }
        // Without it a session that is resumed may be refused, and is never trusted more.
        _ = SSL_SESSION_set1_ticket_appdata(session, bytes, bytes.count)
    }

    /// The certificates of a connection in DER, the server's own first; empty when there are none.
    static func certificates(of ssl: OpaquePointer) -> [[UInt8]] {
        let sent = TLSVerification.certificates(SSL_get_peer_cert_chain(ssl))
        guard sent.isEmpty else { return sent }
        guard let own = SSL_get0_peer_certificate(ssl).flatMap(TLSVerification.der) else { return [] }
        return [own] + kept(in: ssl)
    }

    private static func kept(in ssl: OpaquePointer) -> [[UInt8]] {
        var start: UnsafeMutableRawPointer?
        var count = 0
        guard let session = SSL_get_session(ssl),
            SSL_SESSION_get0_ticket_appdata(session, &start, &count) == 1
        else { return [] }
        var rest = UnsafeRawBufferPointer(start: start, count: count)[...]
        var certificates: [[UInt8]] = []
        while rest.count >= 4 {
            let length = Int(UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: UInt32.self))
            rest = rest.dropFirst(4)
            guard length <= rest.count else { return [] }
            certificates.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return certificates
    }
}
