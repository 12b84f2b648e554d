import COpenSSL

/// Private keys as OpenSSL reads and writes them.
enum ClientIdentityKey {
    /// The key of a PEM block, decrypted, as PKCS#8 in DER.
    static func read(
        _ block: borrowing ClientIdentityBlock,
        _ number: Int,
        _ password: String?,
        in context: OpaquePointer,
        _ work: inout KeyDerivationWork
    ) throws(ClientIdentityError) -> ClientIdentitySecret {
        ERR_clear_error()
        let key: OpaquePointer?
        if block.label == "ENCRYPTED PRIVATE KEY" {
            key = try decrypted(block.contents, try given(password), in: context, &work)
        } else if block.header.contains("ENCRYPTED") {
            let plain = try decrypted(block.contents, header: block.header, try given(password))
            key = parsed(plain, in: context)
            // The old format has no check of its own: a wrong password may yield noise that only the parser refuses.
            if key == nil { throw .wrongPassword }
        } else {
            key = parsed(block.contents, in: context)
        }
        guard let key else {
            let parserSays = OpenSSLText.lastError()
            throw .malformed(
                reason: "PEM block \(number) is no private key that OpenSSL can read (\(parserSays))"
            )
        }
        defer { EVP_PKEY_free(key) }
        return try pkcs8(key)
    }

    /// A key in the process's own context; nil when it does not know the kind.
    static func parsed(_ secret: ClientIdentitySecret) -> OpaquePointer? { parsed(secret.bytes, in: nil) }

    /// A key as unencrypted PKCS#8, DER.
    static func pkcs8(_ key: OpaquePointer) throws(ClientIdentityError) -> ClientIdentitySecret {
        // Freeing the structure overwrites the key in it.
        guard let structure = EVP_PKEY2PKCS8(key) else {
            throw .unsupported(reason: "its private key has no PKCS#8 form (\(OpenSSLText.lastError()))")
        }
        defer { PKCS8_PRIV_KEY_INFO_free(structure) }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_PKCS8_PRIV_KEY_INFO(structure, &bytes))
        guard count > 0, let bytes else {
            throw .unsupported(reason: "its private key has no PKCS#8 form (\(OpenSSLText.lastError()))")
        }
        defer { CRYPTO_clear_free(bytes, count, nil, 0) }
        return ClientIdentitySecret(copying: UnsafeRawBufferPointer(start: bytes, count: count))
    }

    private static func parsed(_ bytes: UnsafeRawBufferPointer, in context: OpaquePointer?) -> OpaquePointer?
    {
        var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return d2i_AutoPrivateKey_ex(nil, &cursor, bytes.count, context, nil)
    }

    private static func given(_ password: String?) throws(ClientIdentityError) -> String {
        guard let password else { throw .passwordRequired }
        return password
    }

    /// PKCS#8 under a password (RFC 5958, section 3).
    private static func decrypted(
        _ bytes: UnsafeRawBufferPointer,
        _ password: String,
        in context: OpaquePointer,
        _ work: inout KeyDerivationWork
    ) throws(ClientIdentityError) -> OpaquePointer? {
        var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let envelope = d2i_X509_SIG(nil, &cursor, bytes.count) else { return nil }
        defer { X509_SIG_free(envelope) }
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_SIG_get0(envelope, &algorithm, nil)
        try work.add(algorithm)
        let count = Int32(clamping: password.utf8.count)
        guard let structure = PKCS8_decrypt_ex(envelope, password, count, context, nil) else {
            throw ClientIdentityError(decryptionFailedWith: password)
        }
        defer { PKCS8_PRIV_KEY_INFO_free(structure) }
        return EVP_PKCS82PKEY_ex(structure, context, nil)
    }

    /// OpenSSL's own encryption of PEM, older than PKCS#8 (RFC 1421, section 4.6).
    private static func decrypted(
        _ bytes: UnsafeRawBufferPointer,
        header: String,
        _ password: String
    ) throws(ClientIdentityError) -> ClientIdentitySecret {
        var cipher = EVP_CIPHER_INFO()
        var header = Array(header.utf8CString)
        guard PEM_get_EVP_CIPHER_INFO(&header, &cipher) == 1 else {
            throw .unsupported(reason: OpenSSLText.lastError())
        }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer {
            OPENSSL_cleanse(room.baseAddress, room.count)
            room.deallocate()
        }
        room.copyMemory(from: bytes)
        var count = bytes.count
        var text = Array(password.utf8CString)
        defer { OPENSSL_cleanse(&text, text.count) }
        let start = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
        // Without a callback the argument is the password itself (pem_password_cb(3)).
        guard PEM_do_header(&cipher, start, &count, nil, &text) == 1 else {
            throw ClientIdentityError(decryptionFailedWith: password)
        }
        return ClientIdentitySecret(
            copying: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(room)[..<count])
        )
    }

    private static func parsed(_ secret: ClientIdentitySecret, in context: OpaquePointer) -> OpaquePointer? {
        parsed(secret.bytes, in: context)
    }
}

extension ClientIdentitySecret {
    /// Whether two secrets are the same; both are the caller's own, so how long it takes tells nobody anything.
    func hasSameBytes(as other: ClientIdentitySecret) -> Bool { bytes.elementsEqual(other.bytes) }
}

extension ClientIdentityError {
    /// Tells a wrong password from an algorithm that is not there, by the reasons that OpenSSL left.
    init(decryptionFailedWith password: String?) {
        var isUnsupported = false
        var reasons: [String] = []
        while case let code = ERR_get_error(), code != 0 {
            guard let text = ERR_reason_error_string(code) else { continue }
            let reason = String(cString: text)
            reasons.append(reason)
            isUnsupported = isUnsupported || reason.hasPrefix("unsupported") || reason.hasPrefix("unknown")
        }
        self =
            if isUnsupported {
                .unsupported(reason: reasons.joined(separator: ", "))
            } else {
                (password ?? "").isEmpty ? .passwordRequired : .wrongPassword
            }
    }
}
