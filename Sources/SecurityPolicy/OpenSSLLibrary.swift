import COpenSSL

/// OpenSSL as the process has it.
package enum OpenSSLLibrary {
    /// Asks OpenSSL not to free its tables when the process exits; later calls do nothing.
    ///
    /// By itself it frees them in an exit handler, while other threads may still verify or digest, and the process
    /// crashes instead of ending. It listens only if this is the first call that it gets.
    package static func prepare() {
        _ = prepared
    }

    private static let prepared: Void = {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }()
}
