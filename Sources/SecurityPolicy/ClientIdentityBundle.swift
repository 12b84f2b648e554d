import COpenSSL
import COpenSSLShims
import FoundationEssentials

/// The contents of a PKCS#12 file (RFC 7292).
struct ClientIdentityBundle {
    let certificates: [Certificate]
    /// Unencrypted PKCS#8, DER: one or none.
    let keys: [ClientIdentitySecret]

    /// Opens a file in a library context.
    static func read(
        _ data: Data,
        password: String?,
        in context: OpaquePointer,
        _ work: inout KeyDerivationWork
    ) throws(ClientIdentityError) -> ClientIdentityBundle {
        guard password?.utf8.contains(0) != true else { throw .wrongPassword }
        ERR_clear_error()
        guard let file = decoded(data, in: context) else {
            throw .malformed(
                reason: "the \(data.count) bytes are neither PEM nor PKCS#12 (\(OpenSSLText.lastError()))"
            )
        }
        defer { PKCS12_free(file) }
        try work.add(pkcs12: file, password)
        var key: OpaquePointer?
        var own: OpaquePointer?
        var others: OpaquePointer?
        ERR_clear_error()
        guard PKCS12_parse(file, password, &key, &own, &others) == 1 else {
            throw ClientIdentityError(decryptionFailedWith: password)
        }
        defer {
            EVP_PKEY_free(key)
            X509_free(own)
            for index in 0..<nm_sk_x509_num(others) { X509_free(nm_sk_x509_value(others, index)) }
            nm_sk_x509_free(others)
        }
        // Bytes and not the objects themselves: those belong to the library context, which is about to go.
        var ders = [own].compactMap { $0 }.compactMap(der)
        for index in 0..<nm_sk_x509_num(others) {
            if let der = nm_sk_x509_value(others, index).flatMap(der) { ders.append(der) }
        }
        var certificates: [Certificate] = []
        for der in ders {
            do {
                certificates.append(try Certificate(der: der))
            } catch {
                throw .malformed(reason: "a certificate in the PKCS#12 cannot be read (\(error))")
            }
        }
        var keys: [ClientIdentitySecret] = []
        if let key { keys.append(try ClientIdentityKey.pkcs8(key)) }
        return ClientIdentityBundle(certificates: certificates, keys: keys)
    }

    private static func decoded(_ data: Data, in context: OpaquePointer) -> OpaquePointer? {
        // Decoding into an existing object is OpenSSL's way to say in which context its contents are decrypted.
        var file = PKCS12_init_ex(NID_pkcs7_data, context, nil)
        guard file != nil else { return nil }
        let isDecoded = data.withUnsafeBytes { bytes in
            var cursor = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return d2i_PKCS12(&file, &cursor, bytes.count) != nil
        }
        guard isDecoded else {
            PKCS12_free(file)
            return nil
        }
        return file
    }

    private static func der(_ certificate: OpaquePointer) -> Data? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &bytes)
        guard count > 0, let bytes else { return nil }
        defer { CRYPTO_free(bytes, nil, 0) }
        return Data(bytes: bytes, count: Int(count))
    }
}
