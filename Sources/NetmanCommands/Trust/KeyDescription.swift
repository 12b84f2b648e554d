import COpenSSL
import FoundationEssentials
import SecurityPolicy

extension Certificate {
    /// The kind and size of the key, as `EC P-256` or `RSA 2048`.
    var keyDescription: String {
        let x509 = OpenSSLBytes.decoded(der) { d2i_X509(nil, $0, $1) }
        defer {
            X509_free(x509)
            ERR_clear_error()
        }
        guard let x509, let key = X509_get0_pubkey(x509) else { return "unknown" }
        let type = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown"
        guard type == "EC" else {
            return type.hasPrefix("RSA") ? "\(type) \(EVP_PKEY_get_bits(key))" : type
        }
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return type }
        let group = String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return "EC " + (Self.curves[group] ?? group)
    }

    /// OpenSSL's names of curves, and those of FIPS 186.
    private static let curves = ["prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521"]
}
