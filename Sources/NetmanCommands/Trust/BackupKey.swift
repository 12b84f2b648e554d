import COpenSSL
import FoundationEssentials
import SecurityPolicy

/// A new private key, and what is made of it.
struct BackupKey {
    enum Kind: String, CaseIterable {
        case p256, p384, rsa2048, rsa3072, rsa4096
    }

    /// PKCS#8, DER, unencrypted.
    let privateKey: Data
    /// SHA-256 of the public half.
    let pin: PublicKeyPin

    /// Makes a key with OpenSSL's random numbers.
    init(kind: Kind) throws(CommandFailure) {
        defer { ERR_clear_error() }
        let failure = CommandFailure(message: "OpenSSL cannot make a key of kind \(kind.rawValue)")
        let isRSA = kind.rawValue.hasPrefix("rsa")
        guard let context = EVP_PKEY_CTX_new_from_name(nil, isRSA ? "RSA" : "EC", nil) else { throw failure }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_keygen_init(context) == 1 else { throw failure }
        let isChosen =
            switch kind {
            case .p256: EVP_PKEY_CTX_set_group_name(context, "P-256")
            case .p384: EVP_PKEY_CTX_set_group_name(context, "P-384")
            case .rsa2048: EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048)
            case .rsa3072: EVP_PKEY_CTX_set_rsa_keygen_bits(context, 3072)
            case .rsa4096: EVP_PKEY_CTX_set_rsa_keygen_bits(context, 4096)
            }
        var made: OpaquePointer?
        guard isChosen == 1, EVP_PKEY_keygen(context, &made) == 1, let key = made else { throw failure }
        defer { EVP_PKEY_free(key) }
        guard let structure = EVP_PKEY2PKCS8(key) else { throw failure }
        defer { PKCS8_PRIV_KEY_INFO_free(structure) }
        guard let privateKey = OpenSSLBytes.encoded({ i2d_PKCS8_PRIV_KEY_INFO(structure, $0) }),
            let publicKey = OpenSSLBytes.encoded({ i2d_PUBKEY(key, $0) }),
            let pin = PublicKeyPin(digest: Self.sha256(publicKey))
        else { throw failure }
        self.privateKey = privateKey
        self.pin = pin
    }

    /// A certificate request (RFC 2986), DER, signed by the key.
    ///
    /// - Parameters:
    ///   - commonName: The subject, cut at the 64 characters that it may have, as X.509 counts them: scalars.
    ///   - hosts: The names and addresses that the certificate shall be for.
    /// - Returns: The request.
    /// - Throws: ``CommandFailure`` where OpenSSL fails.
    func signingRequest(commonName: String, hosts: [String]) throws(CommandFailure) -> Data {
        defer { ERR_clear_error() }
        let failure = CommandFailure(message: "OpenSSL cannot make the signing request")
        let key = OpenSSLBytes.decoded(privateKey) { d2i_AutoPrivateKey(nil, $0, $1) }
        defer { EVP_PKEY_free(key) }
        guard let key, let request = X509_REQ_new(), let subject = X509_NAME_new() else { throw failure }
        defer {
            X509_REQ_free(request)
            X509_NAME_free(subject)
        }
        let name = Array(String(commonName.unicodeScalars.prefix(64)).utf8)
        guard X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, Int32(name.count), -1, 0) == 1,
            X509_REQ_set_version(request, 0) == 1, X509_REQ_set_subject_name(request, subject) == 1,
            X509_REQ_set_pubkey(request, key) == 1
        else { throw failure }
        if !hosts.isEmpty {
            let names = hosts.map { Self.isAddress($0) ? "IP:\($0)" : "DNS:\($0)" }.joined(separator: ",")
            guard let list = OPENSSL_sk_new_null(),
                let names = X509V3_EXT_conf_nid(nil, nil, NID_subject_alt_name, names)
            else { throw failure }
            defer {
                X509_EXTENSION_free(names)
                OPENSSL_sk_free(list)
            }
            guard OPENSSL_sk_push(list, UnsafeRawPointer(names)) > 0,
                X509_REQ_add_extensions(request, list) == 1
            else { throw failure }
        }
        guard X509_REQ_sign(request, key, EVP_sha256()) > 0,
            let der = OpenSSLBytes.encoded({ i2d_X509_REQ(request, $0) })
        else { throw failure }
        return der
    }

    private static func isAddress(_ host: String) -> Bool {
        guard let octets = a2i_IPADDRESS(host) else { return false }
        ASN1_OCTET_STRING_free(octets)
        return true
    }

    private static func sha256(_ data: Data) -> Data {
        var digest = [UInt8](repeating: 0, count: 32)
        _ = data.withUnsafeBytes {
            SHA256($0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count, &digest)
        }
        return Data(digest)
    }
}
