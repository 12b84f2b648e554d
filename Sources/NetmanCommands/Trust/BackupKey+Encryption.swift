import COpenSSL
import FoundationEssentials

extension BackupKey {
    /// What OWASP's cheat sheet on the storage of passwords asks for of PBKDF2 with HMAC-SHA-256; OpenSSL by itself takes
    /// 2048.
    private static let iterations: Int32 = 600_000
    /// NIST SP 800-132 asks for 16; OpenSSL 3.0 by itself takes 8.
    private static let saltSize: Int32 = 16

    /// The key as encrypted PKCS#8 (RFC 5958, section 3), DER: AES-256-CBC under a key that PBKDF2 makes of the
    /// passphrase (PBES2, RFC 8018).
    ///
    /// - Throws: ``CommandFailure`` where OpenSSL fails.
    func encryptedPrivateKey(under passphrase: Passphrase) throws(CommandFailure) -> Data {
        defer { ERR_clear_error() }
        let failure = CommandFailure(message: "OpenSSL cannot encrypt the key")
        let structure = OpenSSLBytes.decoded(privateKey) { d2i_PKCS8_PRIV_KEY_INFO(nil, $0, $1) }
        guard let structure else { throw failure }
        defer { PKCS8_PRIV_KEY_INFO_free(structure) }
        // Naming the pseudo-random function chooses PBES2; without a salt OpenSSL draws one.
        let envelope = PKCS8_encrypt(
            NID_hmacWithSHA256,
            EVP_aes_256_cbc(),
            passphrase.text,
            Int32(passphrase.text.utf8.count),
            nil,
            Self.saltSize,
            Self.iterations,
            structure
        )
        guard let envelope else { throw failure }
        defer { X509_SIG_free(envelope) }
        guard let der = OpenSSLBytes.encoded({ i2d_X509_SIG(envelope, $0) }) else { throw failure }
        return der
    }
}
