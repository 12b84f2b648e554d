import COpenSSL
public import FoundationEssentials

extension Identity {
    /// How a PKCS#12 file protects its contents.
    public enum PKCS12Protection: Sendable, Hashable {
        /// AES-256-CBC, SHA-256: what OpenSSL 3 writes.
        case modern
        /// Triple DES for key and certificates, SHA-1: readable by OpenSSL 3 without its legacy provider.
        case tripleDES
        /// RC2 with 40 bits for the certificates and triple DES for the key, as most old files are.
        case legacy
    }

    /// Exports certificate, key and intermediates as PKCS#12 (RFC 7292).
    ///
    /// A password of nil and an empty one differ in this format; the friendly name is the file's name for the
    /// pair. Throws ``PKIError``, with ``PKCS12Protection/legacy`` also when OpenSSL's legacy provider is
    /// missing.
    public func pkcs12(
        password: String?,
        friendlyName: String = "identity",
        protection: PKCS12Protection = .modern
    ) throws -> Data {
        guard protection == .legacy else {
            return try pkcs12(password, friendlyName, protection, in: nil)
        }
        // A library context of its own: loading the legacy provider into the default one would change what
        // the code under test accepts.
        let context = try OSSL_LIB_CTX_new().orThrow("allocate a library context")
        defer { OSSL_LIB_CTX_free(context) }
        let standard = try OSSL_PROVIDER_load(context, "default").orThrow("load the default provider")
        defer { OSSL_PROVIDER_unload(standard) }
        let legacy = try OSSL_PROVIDER_load(context, "legacy").orThrow("load the legacy provider")
        defer { OSSL_PROVIDER_unload(legacy) }
        return try pkcs12(password, friendlyName, protection, in: context)
    }

    private func pkcs12(
        _ password: String?,
        _ friendlyName: String,
        _ protection: PKCS12Protection,
        in context: OpaquePointer?
    ) throws -> Data {
        let stack = try OPENSSL_sk_new_null().orThrow("allocate a stack")
        var owned: [OpaquePointer] = []
        defer {
            OPENSSL_sk_free(stack)
            for certificate in owned { X509_free(certificate) }
        }
        for intermediate in intermediates {
            let copy = try decoded(intermediate.der, "read a certificate") { d2i_X509(nil, $0, $1) }
            owned.append(copy)
            try check(OPENSSL_sk_push(stack, UnsafeRawPointer(copy)), "push a certificate")
        }
        let (keyCipher, certificateCipher): (Int32, Int32) =
            switch protection {
            case .modern: (0, 0)
            case .tripleDES:
                (NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And3_Key_TripleDES_CBC)
            case .legacy: (NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And40BitRC2_CBC)
            }
        return try key.withOpenSSL { key in
            try certificate.withOpenSSL { leaf in
                // Few iterations: a test is no place to be slow on purpose.
                let made = PKCS12_create_ex(
                    password,
                    friendlyName,
                    key,
                    leaf,
                    stack,
                    keyCipher,
                    certificateCipher,
                    1_000,
                    1_000,
                    0,
                    context,
                    nil
                )
                let file = try made.orThrow("make a PKCS#12 file")
                defer { PKCS12_free(file) }
                return try encoded("encode a PKCS#12 file") { i2d_PKCS12(file, $0) }
            }
        }
    }
}
