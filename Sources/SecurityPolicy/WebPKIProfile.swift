import COpenSSL
import COpenSSLShims
import FoundationEssentials

/// What public authorities must keep to and OpenSSL does not ask for, even in its strict mode.
///
/// From RFC 5280 and the CA/Browser Forum's Baseline Requirements for TLS server certificates. A private authority
/// often does otherwise, so the profile is a choice.
enum WebPKIProfile {
    /// The first rule that a verified path breaks.
    ///
    /// - Parameter path: leaf first, anchor last.
    /// - Returns: the position of the certificate and the broken rule; nil if there is none.
    static func violation(in path: [Certificate]) -> (depth: Int, rule: String)? {
        for (depth, certificate) in path.enumerated() {
            let isAuthority = depth > 0
            let isRoot = isAuthority && certificate.isSelfSigned
            let rule =
                anyCertificate(certificate.record.x509)
                // Some roots in every public list have the number 0.
                ?? (isRoot ? nil : serialNumber(of: certificate.record.x509))
                ?? names(of: certificate)
                ?? constraints(of: certificate.record.x509)
                ?? (isAuthority ? nil : serverCertificate(certificate))
                ?? (isRoot ? root(certificate.record.x509) : nil)
            if let rule { return (depth, rule) }
        }
        return nil
    }

    /// The rule that a revocation list breaks (RFC 5280, 5.2.3); nil if there is none.
    static func violation(in list: RevocationList) -> String? {
        let index = X509_CRL_get_ext_by_NID(list.pointer, NID_crl_number, -1)
        guard index >= 0 else { return "a revocation list has no number" }
        guard X509_EXTENSION_get_critical(X509_CRL_get_ext(list.pointer, index)) == 0 else {
            return "the number of a revocation list is critical"
        }
        return nil
    }

    // MARK: Every certificate

    private static func anyCertificate(_ x509: OpaquePointer) -> String? {
        guard X509_get_version(x509) == 2 else { return "it is not an X.509 version 3 certificate" }
        if let key = X509_get0_pubkey(x509), EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA {
            guard EVP_PKEY_get_bits(key) % 8 == 0 else {
                return "the size of its RSA key is no multiple of 8 bits"
            }
        }
        if isPresent(NID_info_access, in: x509) {
            guard let access = X509_get_ext_d2i(x509, NID_info_access, nil, nil) else {
                return "its authority information access is malformed"
            }
            AUTHORITY_INFO_ACCESS_free(OpaquePointer(access))
        }
        if isPresent(NID_policy_constraints, in: x509), !isCritical(NID_policy_constraints, in: x509) {
            return "its policy constraints are not critical"
        }
        return nil
    }

    /// RFC 5280, 4.1.2.2: positive, at most 20 octets.
    private static func serialNumber(of x509: OpaquePointer) -> String? {
        guard let serial = X509_get0_serialNumber(x509) else { return "it has no serial number" }
        let count = i2d_ASN1_INTEGER(serial, nil)
        // Tag and length are one octet each.
        guard count <= 2 + 20 else { return "its serial number has more than 20 octets" }
        var value: UInt64 = 0
        let fits = ASN1_INTEGER_get_uint64(&value, serial)
        ERR_clear_error()
        let isNegative = serial.pointee.type & V_ASN1_NEG != 0
        guard !isNegative, fits != 1 || value > 0 else { return "its serial number is not positive" }
        return nil
    }

    // MARK: Names

    /// RFC 5280, 4.2.1.6.
    private static func names(of certificate: Certificate) -> String? {
        let x509 = certificate.record.x509
        guard isPresent(NID_subject_alt_name, in: x509) else { return nil }
        let subjectIsEmpty = X509_NAME_entry_count(X509_get_subject_name(x509)) == 0
        guard isCritical(NID_subject_alt_name, in: x509) == subjectIsEmpty else {
            return "its alternative names must be critical if it has no subject, and only then"
        }
        for name in certificate.dnsNames {
            let host = name.hasPrefix("*.") ? name.dropFirst(2) : name[...]
            let isHost = if case .dns = HostName(host) { true } else { false }
            guard isHost, !host.hasSuffix("."), !host.utf8.contains(UInt8(ascii: "_")) else {
                return "its alternative name \(name) is no host name"
            }
        }
        return nil
    }

    /// RFC 5280, 4.2.1.10.
    private static func constraints(of x509: OpaquePointer) -> String? {
        guard isPresent(NID_name_constraints, in: x509) else { return nil }
        guard let raw = X509_get_ext_d2i(x509, NID_name_constraints, nil, nil) else {
            return "its name constraints are malformed"
        }
        let constraints = raw.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        let subtrees = [constraints.pointee.permittedSubtrees, constraints.pointee.excludedSubtrees]
        for list in subtrees {
            for index in 0..<nm_subtrees_num(list) {
                var bytes: UnsafePointer<UInt8>?
                var count: Int32 = 0
                guard nm_subtree_at(list, index, &bytes, &count) == GEN_DNS, count > 0 else { continue }
                let base = String(
                    decoding: UnsafeBufferPointer(start: bytes, count: Int(count)),
                    as: UTF8.self
                )
                let isHost = if case .dns = HostName(base) { true } else { false }
                guard isHost else { return "its name constraints name \(base), which is no host name" }
            }
        }
        return nil
    }

    // MARK: Leaf and root

    /// Baseline Requirements, 7.1.2.7.
    private static func serverCertificate(_ certificate: Certificate) -> String? {
        let x509 = certificate.record.x509
        if certificate.isCertificateAuthority { return "it is an authority's certificate" }
        let usage = X509_get_extended_key_usage(x509)
        // UInt32.max stands for a missing extension.
        guard usage != .max, usage & UInt32(XKU_SSL_SERVER) != 0 else {
            return "it does not name the purpose serverAuth"
        }
        guard usage & UInt32(XKU_ANYEKU) == 0 else { return "it names any purpose" }
        guard !isCritical(NID_ext_key_usage, in: x509) else { return "its purposes are critical" }
        let names = certificate.dnsNames + certificate.ipAddresses
        for name in commonNames(of: x509) where !names.contains(name) {
            return "its common name \(OpenSSLText.printable(name.utf8)) is not among its alternative names"
        }
        return nil
    }

    private static func commonNames(of x509: OpaquePointer) -> [String] {
        guard let subject = X509_get_subject_name(x509) else { return [] }
        var found: [String] = []
        var index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
        while index >= 0 {
            let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index))
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = ASN1_STRING_to_UTF8(&bytes, value)
            found.append(
                String(decoding: UnsafeBufferPointer(start: bytes, count: Int(max(0, count))), as: UTF8.self)
            )
            nm_openssl_free(bytes)
            index = X509_NAME_get_index_by_NID(subject, NID_commonName, index)
        }
        return found
    }

    /// Baseline Requirements, 7.1.2.1.
    private static func root(_ x509: OpaquePointer) -> String? {
        if isPresent(NID_ext_key_usage, in: x509) { return "it is a root and names purposes" }
        guard isPresent(NID_authority_key_identifier, in: x509) else { return nil }
        guard X509_get0_authority_issuer(x509) == nil, X509_get0_authority_serial(x509) == nil,
            let authority = X509_get0_authority_key_id(x509), let own = X509_get0_subject_key_id(x509),
            ASN1_OCTET_STRING_cmp(authority, own) == 0
        else { return "it is a root whose authority key identifier is not its own key identifier alone" }
        return nil
    }

    // MARK: Extensions

    private static func isPresent(_ identifier: Int32, in x509: OpaquePointer) -> Bool {
        X509_get_ext_by_NID(x509, identifier, -1) >= 0
    }

    private static func isCritical(_ identifier: Int32, in x509: OpaquePointer) -> Bool {
        let index = X509_get_ext_by_NID(x509, identifier, -1)
        return index >= 0 && X509_EXTENSION_get_critical(X509_get_ext(x509, index)) == 1
    }
}
