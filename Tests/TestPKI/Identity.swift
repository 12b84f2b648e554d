public import FoundationEssentials

/// A certificate, its key and the certificates that are sent with it: what a server or a client presents.
public struct Identity: Sendable, Hashable {
    /// The leaf.
    public var certificate: IssuedCertificate
    /// The leaf's key.
    public var key: PrivateKey
    /// What is sent behind the leaf, in this order; the root is not among them unless a test puts it there.
    public var intermediates: [IssuedCertificate]

    /// Puts an identity together, however little its parts belong to each other.
    public init(certificate: IssuedCertificate, key: PrivateKey, intermediates: [IssuedCertificate] = []) {
        self.certificate = certificate
        self.key = key
        self.intermediates = intermediates
    }

    /// A certificate that is its own issuer.
    public static func selfSigned(_ options: CertificateOptions) throws -> Self {
        let key = try options.privateKey()
        let builder = CertificateBuilder(
            options: options,
            publicKey: try key.publicKeyDER,
            issuer: nil,
            signingKey: key
        )
        return Self(certificate: try builder.build(), key: key)
    }

    /// The leaf, DER.
    public var certificateDER: Data { certificate.der }
    /// The leaf, PEM.
    public var certificatePEM: String { certificate.pem }
    /// The leaf's key as unencrypted PKCS#8, PEM.
    public var privateKeyPEM: String { key.pem }
    /// The leaf and the intermediates, DER each.
    public var chainDER: [Data] { chain.map(\.der) }
    /// The leaf and the intermediates, PEM, one after the other.
    public var chainPEM: String { chain.map(\.pem).joined() }
    /// The leaf and the intermediates.
    public var chain: [IssuedCertificate] { [certificate] + intermediates }

    /// The same leaf and key behind which other certificates are sent.
    public func sending(_ intermediates: [IssuedCertificate]) -> Self {
        Self(certificate: certificate, key: key, intermediates: intermediates)
    }

    /// The same with further certificates at the end.
    public func appending(_ certificates: [IssuedCertificate]) -> Self {
        sending(intermediates + certificates)
    }
}

extension Identity {
    /// Where ``writePEM(to:name:)`` and ``writeDER(to:name:)`` put things.
    public struct Files: Sendable, Hashable {
        /// The leaf alone.
        public var certificate: String
        /// The leaf and the intermediates; with DER the leaf alone, for DER holds one certificate a file.
        public var chain: String
        /// The unencrypted key.
        public var key: String
    }

    /// Writes `NAME.pem`, `NAME-chain.pem` and `NAME-key.pem` into an existing directory.
    public func writePEM(to directory: String, name: String = "identity") throws -> Files {
        let files = Files(
            certificate: "\(directory)/\(name).pem",
            chain: "\(directory)/\(name)-chain.pem",
            key: "\(directory)/\(name)-key.pem"
        )
        try write(Data(certificatePEM.utf8), to: files.certificate)
        try write(Data(chainPEM.utf8), to: files.chain)
        try write(Data(privateKeyPEM.utf8), to: files.key)
        return files
    }

    /// Writes `NAME.der` and `NAME-key.der` into an existing directory.
    public func writeDER(to directory: String, name: String = "identity") throws -> Files {
        let certificate = "\(directory)/\(name).der"
        let files = Files(certificate: certificate, chain: certificate, key: "\(directory)/\(name)-key.der")
        try write(certificateDER, to: files.certificate)
        try write(key.der, to: files.key)
        return files
    }
}

extension IssuedCertificate {
    /// Writes the certificate to a file, DER.
    public func writeDER(to path: String) throws { try write(der, to: path) }
    /// Writes the certificate to a file, PEM.
    public func writePEM(to path: String) throws { try write(Data(pem.utf8), to: path) }
}

private func write(_ bytes: Data, to path: String) throws {
    try bytes.write(to: URL(filePath: path))
}

extension CertificateOptions {
    /// The key that the options ask for: made now, or the one that exists.
    func privateKey() throws -> PrivateKey {
        switch key {
        case .new(let kind): try PrivateKey(kind)
        case .existing(let key): key
        }
    }
}
