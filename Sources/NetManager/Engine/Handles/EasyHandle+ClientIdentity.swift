import CCurl
import CCurlShims
import SecurityPolicy

/// What the client shows in the handshake.
extension EasyHandle {
    /// Sets the client's certificate and key, both PEM, which is libcurl's type unless it is told another.
    ///
    /// Only in PEM do the intermediates go along.
    func apply(_ identity: ClientIdentity?) throws(TransferFailure) {
        for option in [CURLOPT_SSLCERT_BLOB, CURLOPT_SSLKEY_BLOB] {
            try check(nm_easy_setopt_blob(pointer, option, nil, 0), option)
        }
        applied.clientIdentity = nil
        guard let identity else { return }
        let chain = identity.certificatePEM.withUnsafeBytes {
            nm_easy_setopt_blob(pointer, CURLOPT_SSLCERT_BLOB, $0.baseAddress, $0.count)
        }
        try check(chain, CURLOPT_SSLCERT_BLOB)
        applied.clientIdentity = identity
        let key = identity.withPrivateKeyPEM {
            nm_easy_setopt_borrowed_blob(pointer, CURLOPT_SSLKEY_BLOB, $0.baseAddress, $0.count)
        }
        do {
            try check(key, CURLOPT_SSLKEY_BLOB)
        } catch {
            // Half an identity must not stay.
            _ = nm_easy_setopt_blob(pointer, CURLOPT_SSLCERT_BLOB, nil, 0)
            applied.clientIdentity = nil
            throw error
        }
    }
}
