import COpenSSL
import COpenSSLShims

/// Applies an authority's name constraints (RFC 5280, 4.2.1.10) to the host that was asked for.
///
/// OpenSSL applies them to the names in the server's certificate only, so a wildcard such as `*.example.com` would
/// give access to a host that the authority is excluded from.
enum NameConstraints {
    /// The first certificate of a verified path whose constraints cannot be meant, or whose names cannot be compared with
    /// the constraints above it.
    ///
    /// - Parameter path: leaf first, anchor last.
    /// - Returns: its position and what is wrong; nil if there is none.
    static func malformation(in path: [Certificate]) -> (depth: Int, reason: String)? {
        guard let leaf = path.first else { return nil }
        let constraining = path.indices.filter {
            X509_get_ext_by_NID(path[$0].record.x509, NID_name_constraints, -1) >= 0
        }
        for depth in constraining {
            guard depth > 0 || leaf.isCertificateAuthority else {
                return (0, "it has name constraints and is no authority")
            }
            if isEmpty(of: path[depth].record.x509) { return (depth, "its name constraints are empty") }
        }
        guard constraining.contains(where: { $0 > 0 }) else { return nil }
        for name in leaf.dnsNames where !isHost(name.hasPrefix("*.") ? name.dropFirst(2) : name[...]) {
            return (0, "its alternative name \(name) cannot be compared with the name constraints")
        }
        return nil
    }

    private static func isHost(_ name: Substring) -> Bool {
        if case .dns = HostName(name) { true } else { false }
    }

    /// Whether constraints name nothing at all (RFC 5280, 4.2.1.10: they must not be an empty sequence).
    private static func isEmpty(of authority: OpaquePointer) -> Bool {
        guard let raw = X509_get_ext_d2i(authority, NID_name_constraints, nil, nil) else { return true }
        let constraints = raw.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        return nm_subtrees_num(constraints.pointee.permittedSubtrees) <= 0
            && nm_subtrees_num(constraints.pointee.excludedSubtrees) <= 0
    }

    /// The X.509 error of a host that `authority` may not vouch for; nil if it may.
    static func violation(by host: HostName, of authority: OpaquePointer) -> Int32? {
        guard X509_get_ext_by_NID(authority, NID_name_constraints, -1) >= 0 else { return nil }
        guard let raw = X509_get_ext_d2i(authority, NID_name_constraints, nil, nil) else {
            return X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX
        }
        let constraints = raw.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        defer { NAME_CONSTRAINTS_free(constraints) }
        // OpenSSL's comparison takes its names out of a certificate, so it gets one that has the host alone.
        guard let bearer = X509_new() else { return X509_V_ERR_OUT_OF_MEM }
        defer { X509_free(bearer) }
        let entry =
            switch host {
            case .dns(let name): "DNS:" + name
            case .address(let address): "IP:" + address.description
            }
        guard let name = X509V3_EXT_conf_nid(nil, nil, NID_subject_alt_name, entry) else {
            return X509_V_ERR_UNSUPPORTED_NAME_SYNTAX
        }
        defer { X509_EXTENSION_free(name) }
        guard X509_add_ext(bearer, name, -1) == 1 else { return X509_V_ERR_OUT_OF_MEM }
        _ = X509_check_purpose(bearer, -1, 0)
        let code = NAME_CONSTRAINTS_check(bearer, constraints)
        return code == X509_V_OK ? nil : code
    }
}
