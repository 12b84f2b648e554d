import COpenSSL

/// A library context of OpenSSL's that knows the algorithms of old files, for as long as one file is read.
///
/// Loading the legacy provider into the process's own context would make RC2 and single DES usable everywhere.
struct ClientIdentityLibrary: ~Copyable {
    /// The context.
    let context: OpaquePointer
    private let providers: [OpaquePointer]

    /// Makes a context; nil when there is no memory.
    init?() {
        guard let context = OSSL_LIB_CTX_new() else { return nil }
        self.context = context
        // Without the legacy provider, which some systems do not install, old files are refused as unsupported.
        providers = [OSSL_PROVIDER_load(context, "default"), OSSL_PROVIDER_load(context, "legacy")]
            .compactMap { $0 }
        ERR_clear_error()
    }

    deinit {
        for provider in providers.reversed() { OSSL_PROVIDER_unload(provider) }
        OSSL_LIB_CTX_free(context)
    }
}
