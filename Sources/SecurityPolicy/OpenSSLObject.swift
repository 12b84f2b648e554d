import COpenSSL

/// A counted reference to an `X509`, `X509_CRL` or `X509_STORE` that nobody writes to any more.
///
/// `@unchecked Sendable` is true because these objects are complete before they are wrapped, this module only
/// reads them afterwards, and what OpenSSL itself caches or counts inside them is behind its own locks and
/// atomics. It is the only such class in the module.
final class OpenSSLObject: @unchecked Sendable {
    /// The object; valid as long as this reference lives.
    let pointer: OpaquePointer
    private let release: @Sendable (OpaquePointer) -> Void

    /// Takes over one reference to a certificate.
    init(certificate: OpaquePointer) {
        // Forces the extension cache now, so that evaluations on several threads find it filled.
        _ = X509_check_purpose(certificate, -1, 0)
        pointer = certificate
        release = { X509_free($0) }
    }

    /// Takes over one reference to a revocation list.
    init(revocationList: OpaquePointer) {
        pointer = revocationList
        release = { X509_CRL_free($0) }
    }

    /// Takes over one reference to a filled store.
    init(store: OpaquePointer) {
        pointer = store
        release = { X509_STORE_free($0) }
    }

    deinit { release(pointer) }
}
