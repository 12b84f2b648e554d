import COpenSSL
import FoundationEssentials
import TestPKI
import Testing

/// OpenSSL itself judges what the authority makes.
struct TestPKITests {
    @Test func `a chain through an intermediate verifies for its names only`() throws {
        let root = try Authority()
        let leaf = try root.intermediate().issue(.server("api.test", "127.0.0.1"))
        #expect(leaf.chainDER.count == 2)
        #expect(try verdict(leaf, anchor: root.certificate, host: "api.test") == X509_V_OK)
        #expect(try verdict(leaf, anchor: root.certificate, host: "127.0.0.1") == X509_V_OK)
        #expect(
            try verdict(leaf, anchor: root.certificate, host: "other.test") == X509_V_ERR_HOSTNAME_MISMATCH
        )
        let alone = leaf.sending([])
        #expect(
            try verdict(alone, anchor: root.certificate, host: "api.test")
                == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
        )
    }

    @Test(arguments: [KeyKind.p256, .p384, .rsa(2048), .ed25519])
    func `every kind of key signs and is certified`(kind: KeyKind) throws {
        let root = try Authority(.authority(commonName: "Root").with { $0.key = .new(kind) })
        let leaf = try root.issue(.server("api.test").with { $0.key = .new(kind) })
        #expect(try verdict(leaf, anchor: root.certificate, host: "api.test") == X509_V_OK)
        #expect(try leaf.key.publicKeyDER == leaf.certificate.publicKeyDER)
        let list = try root.revocationList(revoking: [leaf.certificate])
        #expect(
            try verdict(leaf, anchor: root.certificate, revocationList: list) == X509_V_ERR_CERT_REVOKED
        )
        #expect(try root.ocspResponse(for: leaf.certificate).count > 100)
    }

    @Test func `dates, purposes, digests and signatures are as asked`() throws {
        let root = try Authority()
        func judge(_ options: CertificateOptions) throws -> Int32 {
            try verdict(root.issue(options), anchor: root.certificate, host: "api.test")
        }
        let server = CertificateOptions.server("api.test")
        #expect(try judge(server.with { $0.validity = .expired }) == X509_V_ERR_CERT_HAS_EXPIRED)
        #expect(try judge(server.with { $0.validity = .notYet }) == X509_V_ERR_CERT_NOT_YET_VALID)
        #expect(try judge(server.with { $0.extendedKeyUsage = ["clientAuth"] }) == X509_V_ERR_INVALID_PURPOSE)
        #expect(try judge(server.with { $0.mustStaple = true }) == X509_V_OK)
        #expect(
            try judge(server.with { $0.extensions = [("1.2.3.4.5", "critical,ASN1:UTF8String:x")] })
                == X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION
        )
        let weak = try root.issue(server.with { $0.digest = .sha1 })
        #expect(
            try verdict(weak, anchor: root.certificate, level: 2) == X509_V_ERR_CA_MD_TOO_WEAK
        )
        let good = try root.issue(server)
        let broken = Identity(certificate: good.certificate.withBrokenSignature, key: good.key)
        #expect(try verdict(broken, anchor: root.certificate) == X509_V_ERR_CERT_SIGNATURE_FAILURE)
        let narrow = try root.intermediate(
            .authority(commonName: "NC").with { $0.nameConstraints = ["permitted;DNS:allowed.test"] }
        )
        #expect(
            try verdict(narrow.issue(server), anchor: root.certificate) == X509_V_ERR_PERMITTED_VIOLATION
        )
        #expect(try judge(.server(.dns("api.test\0.evil.test"))) == X509_V_ERR_HOSTNAME_MISMATCH)
        #expect(
            try verdict(root.issue(.server(.uri("https://api.test"))), anchor: root.certificate) == X509_V_OK
        )
    }

    @Test func `renewal keeps the key, rotation does not, forgery and cross-signing do what they say`() throws
    {
        let root = try Authority()
        let other = try Authority(commonName: "Other Root")
        let first = try root.issue(.server("api.test"))
        let renewed = try root.issue(.server("api.test").with { $0.key = .existing(first.key) })
        let rotated = try root.issue(.server("api.test"))
        #expect(try first.certificate.publicKeySHA256 == renewed.certificate.publicKeySHA256)
        #expect(first.certificateDER != renewed.certificateDER)
        #expect(try first.certificate.publicKeySHA256 != rotated.certificate.publicKeySHA256)
        let forged = try root.forged(with: PrivateKey()).issue(
            .server("api.test").with { $0.authorityKeyIdentifier = .omitted }
        )
        #expect(try verdict(forged, anchor: root.certificate) == X509_V_ERR_CERT_SIGNATURE_FAILURE)
        let intermediate = try root.intermediate(commonName: "Issuing")
        let crossed = try other.crossSigned(intermediate, .authority(commonName: "Issuing"))
        let leaf = try crossed.issue(.server("api.test"))
        #expect(try verdict(leaf, anchor: other.certificate) == X509_V_OK)
        #expect(try verdict(leaf.sending([intermediate.certificate]), anchor: root.certificate) == X509_V_OK)
        let alone = try Identity.selfSigned(.server("api.test"))
        #expect(try verdict(alone, anchor: alone.certificate, host: "api.test") == X509_V_OK)
    }

    @Test(arguments: [Identity.PKCS12Protection.modern, .tripleDES])
    func `PKCS#12 opens with its password only`(protection: Identity.PKCS12Protection) throws {
        let root = try Authority()
        let client = try root.intermediate().issue(.client(commonName: "client"))
        let bytes = try client.pkcs12(password: "secret", protection: protection)
        let file = bytes.withUnsafeBytes { buffer in
            var cursor = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return d2i_PKCS12(nil, &cursor, buffer.count)
        }
        defer { PKCS12_free(file) }
        #expect(PKCS12_verify_mac(file, "secret", -1) == 1)
        #expect(PKCS12_verify_mac(file, "wrong", -1) == 0)
        ERR_clear_error()
        #expect(try client.pkcs12(password: "secret", protection: .legacy).count > 500)
        #expect(try client.key.pem(password: "secret").contains("BEGIN ENCRYPTED PRIVATE KEY"))
    }
}

/// What `X509_verify_cert` says of a chain for a TLS server.
func verdict(
    _ identity: Identity,
    anchor: IssuedCertificate,
    host: String? = nil,
    level: Int32 = 1,
    revocationList: Data? = nil
) throws -> Int32 {
    let store = X509_STORE_new()
    defer { X509_STORE_free(store) }
    let root = parsed(anchor)
    defer { X509_free(root) }
    X509_STORE_add_cert(store, root)
    let chain = OPENSSL_sk_new_null()
    let certificates = identity.chain.map(parsed)
    defer {
        OPENSSL_sk_free(chain)
        certificates.forEach { X509_free($0) }
    }
    for certificate in certificates { OPENSSL_sk_push(chain, certificate.map { UnsafeRawPointer($0) }) }
    if let revocationList {
        let list = revocationList.withUnsafeBytes { buffer in
            var cursor = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return d2i_X509_CRL(nil, &cursor, buffer.count)
        }
        X509_STORE_add_crl(store, list)
        X509_CRL_free(list)
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_CRL_CHECK))
    }
    let context = X509_STORE_CTX_new()
    defer { X509_STORE_CTX_free(context) }
    try #require(X509_STORE_CTX_init(context, store, certificates.first ?? nil, chain) == 1)
    X509_STORE_CTX_set_default(context, "ssl_server")
    let parameters = X509_STORE_CTX_get0_param(context)
    X509_VERIFY_PARAM_set_auth_level(parameters, level)
    if let host, X509_VERIFY_PARAM_set1_ip_asc(parameters, host) != 1 {
        X509_VERIFY_PARAM_set1_host(parameters, host, 0)
    }
    X509_verify_cert(context)
    ERR_clear_error()
    return X509_STORE_CTX_get_error(context)
}

private func parsed(_ certificate: IssuedCertificate) -> OpaquePointer? {
    certificate.der.withUnsafeBytes { buffer in
        var cursor = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return d2i_X509(nil, &cursor, buffer.count)
    }
}
