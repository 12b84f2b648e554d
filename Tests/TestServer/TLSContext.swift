import COpenSSL
import COpenSSLShims
import FoundationEssentials
import TestPKI

/// OpenSSL's `SSL_CTX` for one set of options.
///
/// `@unchecked Sendable` is true because the context is not changed after `init`, and OpenSSL guards the parts
/// that handshakes change (reference count, session cache) by locks of its own.
final class TLSContext: @unchecked Sendable {
    let pointer: OpaquePointer
    private let settings: CallbackSettings

    /// The ticket keys, 80 random bytes, are the server's: a new identity does not void old tickets.
    init(_ options: TLSOptions, ticketKeys: [UInt8]) throws {
        pointer = try SSL_CTX_new(TLS_server_method()).orThrow("make a TLS context")
        settings = CallbackSettings(options)
        // Level 0: tests present weak keys and old digests on purpose.
        SSL_CTX_set_security_level(pointer, 0)
        try setVersions(options)
        try setIdentity(options.identity)
        try setResumption(options.resumption, ticketKeys)
        try setClientCertificates(options.clientCertificates)
        if let suites = options.cipherSuites {
            try check(SSL_CTX_set_cipher_list(pointer, suites), "use the cipher suites \(suites)")
        }
        // Only an accepted name gets into the session, from where a resumed TLS 1.2 handshake reports it.
        nm_ssl_ctx_set_tlsext_servername_callback(pointer) { _, _, _ in SSL_TLSEXT_ERR_OK }
        let argument = Unmanaged.passUnretained(settings).toOpaque()
        if !options.applicationProtocols.isEmpty {
            SSL_CTX_set_alpn_select_cb(pointer, chooseProtocol, argument)
        }
        if options.stapledOCSPResponse != nil {
            nm_ssl_ctx_set_tlsext_status_cb(pointer, staple)
            SSL_CTX_ctrl(pointer, SSL_CTRL_SET_TLSEXT_STATUS_REQ_CB_ARG, 0, argument)
        }
    }

    deinit { SSL_CTX_free(pointer) }

    private func setVersions(_ options: TLSOptions) throws {
        let bounds = [
            (SSL_CTRL_SET_MIN_PROTO_VERSION, options.minimum),
            (SSL_CTRL_SET_MAX_PROTO_VERSION, options.maximum),
        ]
        for (command, version) in bounds {
            let result = SSL_CTX_ctrl(pointer, command, Int(version.rawValue), nil)
            try check(Int32(result), "use the version \(version)")
        }
    }

    private func setIdentity(_ identity: Identity) throws {
        // Exactly the chain of the identity is sent, whatever OpenSSL could build itself.
        SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(SSL_MODE_NO_AUTO_CHAIN), nil)
        let leaf = try parse(identity.certificate)
        defer { X509_free(leaf) }
        try check(SSL_CTX_use_certificate(pointer, leaf), "use a certificate")
        for certificate in identity.intermediates {
            let parsed = try parse(certificate)
            defer { X509_free(parsed) }
            let pushed = SSL_CTX_ctrl(pointer, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(parsed))
            try check(Int32(pushed), "send a certificate")
        }
        let key = identity.key.der.withUnsafeBytes { bytes in
            var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return d2i_AutoPrivateKey(nil, &cursor, bytes.count)
        }
        defer { EVP_PKEY_free(key) }
        try check(SSL_CTX_use_PrivateKey(pointer, key), "use a private key")
    }

    private func setResumption(_ resumption: TLSOptions.Resumption, _ ticketKeys: [UInt8]) throws {
        let name = Array("test".utf8)
        SSL_CTX_set_session_id_context(pointer, name, UInt32(name.count))
        switch resumption {
        case .tickets:
            var keys = ticketKeys
            let set = SSL_CTX_ctrl(pointer, SSL_CTRL_SET_TLSEXT_TICKET_KEYS, keys.count, &keys)
            try check(Int32(set), "set the ticket keys")
        case .sessionCache:
            SSL_CTX_set_options(pointer, 1 << 14)  // SSL_OP_NO_TICKET
        case .refused:
            SSL_CTX_set_options(pointer, 1 << 14)
            SSL_CTX_set_num_tickets(pointer, 0)
            SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        }
    }

    private func setClientCertificates(_ choice: TLSOptions.ClientCertificates) throws {
        let anchors: [IssuedCertificate]
        switch choice {
        case .notAsked: return
        case .optional(let given):
            anchors = given
            SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        case .required(let given):
            anchors = given
            SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        }
        for anchor in anchors {
            let parsed = try parse(anchor)
            defer { X509_free(parsed) }
            try check(X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), parsed), "trust a certificate")
            try check(SSL_CTX_add_client_CA(pointer, parsed), "name an authority")
        }
    }

    private func parse(_ certificate: IssuedCertificate) throws -> OpaquePointer {
        let parsed = certificate.der.withUnsafeBytes { bytes in
            var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return d2i_X509(nil, &cursor, bytes.count)
        }
        return try parsed.orThrow("read a certificate")
    }
}

/// What the callbacks need; lives as long as the context that points to it.
private final class CallbackSettings {
    /// The protocols in the format of the extension: a length byte before each (RFC 7301, section 3.1).
    let protocols: [UInt8]
    let stapled: Data

    init(_ options: TLSOptions) {
        protocols = options.applicationProtocols.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8) }
        stapled = options.stapledOCSPResponse ?? Data()
    }
}

private let chooseProtocol: SSL_CTX_alpn_select_cb_func = {
    _,
    output,
    length,
    offered,
    offeredLength,
    argument in
    guard let argument, let output else { return SSL_TLSEXT_ERR_NOACK }
    let settings = Unmanaged<CallbackSettings>.fromOpaque(argument).takeUnretainedValue()
    var chosen: UnsafeMutablePointer<UInt8>?
    let result = settings.protocols.withUnsafeBufferPointer { own in
        SSL_select_next_proto(&chosen, length, own.baseAddress, UInt32(own.count), offered, offeredLength)
    }
    // Without overlap the choice would point into our own list; then the extension is left unanswered.
    guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_NOACK }
    output.pointee = UnsafePointer(chosen)
    return SSL_TLSEXT_ERR_OK
}

private let staple: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { ssl, argument in
    guard let argument else { return SSL_TLSEXT_ERR_NOACK }
    let response = Unmanaged<CallbackSettings>.fromOpaque(argument).takeUnretainedValue().stapled
    // OpenSSL frees the bytes itself, so they must come from its allocator.
    guard let bytes = CRYPTO_malloc(response.count, nil, 0) else { return SSL_TLSEXT_ERR_NOACK }
    response.withUnsafeBytes {
        bytes.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(bytes), byteCount: $0.count)
    }
    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_STATUS_REQ_OCSP_RESP, response.count, bytes)
    return SSL_TLSEXT_ERR_OK
}
