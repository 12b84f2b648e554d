import FoundationEssentials

extension SecurityPolicy {
    /// Names this policy: SHA-256 in hex over every field that influences a verdict.
    ///
    /// Two connections may share anything (a pool, a TLS session) only if their policies have the same name. The
    /// host and the client's own certificate are not part of a policy; whoever pools must add them.
    package var policyID: String {
        let lines = [
            "mode \(pinningMode.rawValue)",
            "certificates "
                + pinnedCertificates.map { OpenSSLText.hex($0.record.fingerprint) }.sorted().joined(
                    separator: ","
                ),
            "keys " + pinnedPublicKeys.map(\.description).sorted().joined(separator: ","),
            "allowInvalid \(allowInvalidCertificates)",
            "domain \(validatesDomainName)",
            "anchors \(trustAnchors.identity)",
            "date \(verificationDate.map { "\($0.timeIntervalSince1970)" } ?? "now")",
            "strictness \(strictness.rawValue)",
            "intermediates \(maximumIntermediates)",
            "revocation \(revocationLists.sortedByFingerprint.map(\.fingerprintText).joined(separator: ","))",
            "stapled \(stapledOCSP.rawValue)",
            "enforcement \(pinEnforcement.rawValue)",
            "expiration \(pinExpiration.map { "\($0.timeIntervalSince1970)" } ?? "never")",
        ]
        let text = Array(lines.joined(separator: "\n").utf8)
        return OpenSSLText.hex(text.withUnsafeBytes { OpenSSLText.sha256($0) })
    }
}
