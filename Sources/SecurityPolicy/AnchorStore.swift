import COpenSSL
import FoundationEssentials

/// A filled `X509_STORE` that is only read.
struct AnchorStore: Sendable {
    /// What is in it.
    let certificates: [Certificate]
    private let object: OpenSSLObject

    /// The store; valid as long as this value lives.
    var pointer: OpaquePointer { object.pointer }

    /// A store of exactly these certificates; nil when memory is out.
    init?(_ certificates: some Sequence<Certificate>) {
        guard let store = X509_STORE_new() else { return nil }
        object = OpenSSLObject(store: store)
        self.certificates = Array(certificates)
        for certificate in certificates {
            guard X509_STORE_add_cert(store, certificate.record.x509) == 1 else { return nil }
        }
    }
}
