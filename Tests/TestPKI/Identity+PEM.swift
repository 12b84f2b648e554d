import FoundationEssentials

extension Identity {
    /// Reads an identity from PEM: the leaf, what is sent behind it, and the leaf's key as unencrypted PKCS#8.
    public init(chainPEM: String, keyPEM: String) throws {
        let chain = try blocks("CERTIFICATE", of: chainPEM).map(IssuedCertificate.init(der:))
        guard let leaf = chain.first, let key = try blocks("PRIVATE KEY", of: keyPEM).first else {
            throw PKIError("read an identity: there is no certificate or no PRIVATE KEY")
        }
        try self.init(certificate: leaf, key: PrivateKey(der: key), intermediates: Array(chain.dropFirst()))
    }
}

/// The contents of all blocks of a kind (RFC 7468).
private func blocks(_ label: String, of text: String) throws -> [Data] {
    try text.split(separator: "-----BEGIN \(label)-----", omittingEmptySubsequences: false).dropFirst().map {
        block in
        let body = block.split(separator: "-----END \(label)-----").first ?? ""
        return try Data(base64Encoded: String(body.filter { !$0.isWhitespace })).orThrow("read \(label)")
    }
}
