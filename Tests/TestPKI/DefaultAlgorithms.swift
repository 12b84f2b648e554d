import COpenSSL

/// What the process's own library context of OpenSSL offers, which nobody may change behind everybody's back.
public enum DefaultAlgorithms {
    /// Whether a cipher, such as `RC2-40-CBC`, can be used.
    public static func offerCipher(_ name: String) -> Bool {
        defer { ERR_clear_error() }
        guard let cipher = EVP_CIPHER_fetch(nil, name, nil) else { return false }
        EVP_CIPHER_free(cipher)
        return true
    }
}
