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

    /// Whether the connection is closed when the transfer ends, however that is.
    ///
    /// While a server may still refuse the client's certificate, a request that cannot be sent would leave the broken
    /// connection among the idle ones. When libcurl closes it, it reads what the server said last: the alert with the
    /// reason. Without this, one refusal of five was reported as a broken connection.
    func closeAfterUse(_ closes: Bool) {
        guard applied.closesAfterUse != closes else { return }
        applied.closesAfterUse = closes
        nm_easy_setopt_long(pointer, CURLOPT_FORBID_REUSE, closes ? 1 : 0)
    }
}
