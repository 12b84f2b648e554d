import COpenSSL
public import FoundationEssentials

/// What kind of key to make.
public enum KeyKind: Sendable, Hashable {
    /// Elliptic curve P-256: the fastest to make, and the default everywhere.
    case p256
    /// Elliptic curve P-384.
    case p384
    /// RSA with a number of bits; 2048 takes about a tenth of a second, 1024 is weak on purpose.
    case rsa(Int)
    /// Ed25519, which signs without a digest.
    case ed25519
}

/// A private key as a value: its PKCS#8 bytes.
public struct PrivateKey: Sendable, Hashable {
    /// The key as unencrypted PKCS#8 (RFC 5208), DER.
    public let der: Data
    /// The kind that was asked for; nil for a key that was read.
    public let kind: KeyKind?

    /// Makes a new random key.
    public init(_ kind: KeyKind = .p256) throws {
        let name =
            switch kind {
            case .p256, .p384: "EC"
            case .rsa: "RSA"
            case .ed25519: "ED25519"
            }
        let context = try EVP_PKEY_CTX_new_from_name(nil, name, nil).orThrow("prepare a key of kind \(name)")
        defer { EVP_PKEY_CTX_free(context) }
        try check(EVP_PKEY_keygen_init(context), "prepare a key of kind \(name)")
        switch kind {
        case .p256: try check(EVP_PKEY_CTX_set_group_name(context, "P-256"), "choose the curve P-256")
        case .p384: try check(EVP_PKEY_CTX_set_group_name(context, "P-384"), "choose the curve P-384")
        case .rsa(let bits):
            try check(EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)), "choose \(bits) bits")
        case .ed25519: break
        }
        var key: OpaquePointer?
        try check(EVP_PKEY_keygen(context, &key), "make a key of kind \(name)")
        defer { EVP_PKEY_free(key) }
        let structure = try EVP_PKEY2PKCS8(key).orThrow("encode a private key")
        defer { PKCS8_PRIV_KEY_INFO_free(structure) }
        der = try encoded("encode a private key") { i2d_PKCS8_PRIV_KEY_INFO(structure, $0) }
        self.kind = kind
    }

    /// Takes over a key that exists already, as unencrypted PKCS#8.
    public init(der: Data) throws {
        self.der = der
        kind = nil
        try withOpenSSL { _ in }
    }

    /// The key as unencrypted PKCS#8, PEM (`BEGIN PRIVATE KEY`).
    public var pem: String { TestPKI.pem("PRIVATE KEY", der) }

    /// The key as PKCS#8 encrypted with AES-256-CBC under a password (`BEGIN ENCRYPTED PRIVATE KEY`).
    public func pem(password: String) throws -> String {
        try withOpenSSL { key in
            let output = try BIO_new(BIO_s_mem()).orThrow("allocate a buffer")
            defer { BIO_free_all(output) }
            try check(
                PEM_write_bio_PKCS8PrivateKey(
                    output,
                    key,
                    EVP_aes_256_cbc(),
                    password,
                    Int32(password.utf8.count),
                    nil,
                    nil
                ),
                "encrypt a private key"
            )
            var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(output))
            let count = BIO_read(output, &bytes, Int32(bytes.count))
            return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
        }
    }

    /// The public half as SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7), DER: what key pins are made of.
    public var publicKeyDER: Data {
        get throws {
            try withOpenSSL { key in try encoded("encode a public key") { i2d_PUBKEY(key, $0) } }
        }
    }

    /// The SHA-256 digest of ``publicKeyDER``, 32 bytes.
    public var publicKeySHA256: Data {
        get throws { try sha256(publicKeyDER) }
    }

    /// Lends the key as OpenSSL's `EVP_PKEY`, for the duration of the call.
    func withOpenSSL<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        let key = try decoded(der, "read a private key") { d2i_AutoPrivateKey(nil, $0, $1) }
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }
}

/// A SHA-256 digest, 32 bytes.
func sha256(_ bytes: Data) -> Data {
    var digest = Data(count: 32)
    digest.withUnsafeMutableBytes { output in
        bytes.withUnsafeBytes { input in
            _ = SHA256(
                input.baseAddress?.assumingMemoryBound(to: UInt8.self),
                input.count,
                output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
        }
    }
    return digest
}
