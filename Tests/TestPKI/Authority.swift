public import FoundationEssentials

/// A certificate authority that lives in memory: a root or an intermediate.
///
/// A value of a certificate and a signing key. The two need not belong together, see ``forged(with:)``.
public struct Authority: Sendable, Hashable {
    /// The authority's own certificate.
    public var certificate: IssuedCertificate
    /// The key that signs what the authority issues.
    public var key: PrivateKey
    /// What must be sent behind the leaves of this authority: nothing for a root.
    public var sentWithLeaves: [IssuedCertificate]

    /// Makes a root: P-256 and ten years unless the options say otherwise.
    public init(commonName: String = "Test Root") throws {
        try self.init(.authority(commonName: commonName))
    }

    /// Makes a root as the options say.
    public init(_ options: CertificateOptions) throws {
        let identity = try Identity.selfSigned(options)
        self.init(certificate: identity.certificate, key: identity.key)
    }

    /// Puts an authority together of its parts.
    public init(certificate: IssuedCertificate, key: PrivateKey, sentWithLeaves: [IssuedCertificate] = []) {
        self.certificate = certificate
        self.key = key
        self.sentWithLeaves = sentWithLeaves
    }

    /// Issues a certificate with its key.
    public func issue(_ options: CertificateOptions) throws -> Identity {
        let key = try options.privateKey()
        let certificate = try certify(try key.publicKeyDER, options)
        return Identity(certificate: certificate, key: key, intermediates: sentWithLeaves)
    }

    /// Issues a certificate for a public key whose private half may be unknown.
    ///
    /// The public key is a SubjectPublicKeyInfo, DER; the options' key is not used.
    public func certify(_ publicKey: Data, _ options: CertificateOptions) throws -> IssuedCertificate {
        try CertificateBuilder(
            options: options,
            publicKey: publicKey,
            issuer: certificate,
            signingKey: key
        ).build()
    }

    /// Issues an authority below this one.
    public func intermediate(_ options: CertificateOptions) throws -> Authority {
        let identity = try issue(options)
        return Authority(
            certificate: identity.certificate,
            key: identity.key,
            sentWithLeaves: [identity.certificate] + sentWithLeaves
        )
    }

    /// Issues an authority below this one, for ten years.
    public func intermediate(commonName: String = "Test Intermediate") throws -> Authority {
        try intermediate(.authority(commonName: commonName, pathLength: 0))
    }

    /// Certifies another authority's key under a name, which the caller gives as in the other's options.
    ///
    /// The answer signs with the other's key, and sends the new certificate with its leaves.
    public func crossSigned(_ other: Authority, _ options: CertificateOptions) throws -> Authority {
        let crossed = try certify(try other.key.publicKeyDER, options)
        return Authority(
            certificate: crossed,
            key: other.key,
            sentWithLeaves: [crossed] + sentWithLeaves
        )
    }

    /// The same name, identifier and certificate, but another key signs: what it issues carries this
    /// authority's name and no valid signature.
    public func forged(with key: PrivateKey) -> Authority {
        Authority(certificate: certificate, key: key, sentWithLeaves: sentWithLeaves)
    }
}
