import COpenSSL
import FoundationEssentials

extension SecurityPolicy {
    /// Decides whether a server is trusted.
    ///
    /// The first rule that fails is the error: the size of the chain, the policy's own configuration, the host's
    /// spelling, the names of the certificate, its key, the path to a trust anchor, the pins. A certificate that the
    /// server merely sends along never counts as a pin: a pin must be the key that the handshake proves, or stand
    /// on a verified path from it.
    ///
    /// It takes a fraction of a millisecond, uses no network, and may be called on any thread.
    ///
    /// - Parameters:
    ///   - serverTrust: what the server sent.
    ///   - domain: the host that was asked for, a name in A-label form or an address. nil is refused if
    ///     ``validatesDomainName`` is true.
    /// - Returns: why the server is trusted.
    /// - Throws: why it is not.
    @discardableResult
    public func evaluate(_ serverTrust: ServerTrust, forDomain domain: String?) throws(TrustError)
        -> TrustDecision
    {
        let leaf = try checkStructure(of: serverTrust)
        try checkConfiguration()
        let host = try checkDomain(domain)
        if pinningMode == .none, allowInvalidCertificates {
            return TrustDecision(basis: .everythingAllowed, path: [leaf])
        }
        if pinsHaveExpired { return try withoutPins.evaluate(serverTrust, forDomain: domain) }
        do {
            return try decide(serverTrust, leaf: leaf, host: host)
        } catch {
            guard pinningMode != .none, pinEnforcement == .audit else { throw error }
            guard var decision = try? withoutPins.evaluate(serverTrust, forDomain: domain) else {
                throw error
            }
            decision.auditedError = error
            return decision
        }
    }

    /// Whether ``evaluate(_:forDomain:)`` would accept.
    ///
    /// - Parameters:
    ///   - serverTrust: what the server sent.
    ///   - domain: the host that was asked for.
    /// - Returns: true if an evaluation throws nothing.
    public func accepts(_ serverTrust: ServerTrust, forDomain domain: String?) -> Bool {
        do {
            try evaluate(serverTrust, forDomain: domain)
            return true
        } catch {
            return false
        }
    }

    /// Refuses a policy that can accept nobody, or that would check a name and nothing else.
    ///
    /// Meant to be called before any traffic; an evaluation calls it as well.
    ///
    /// - Throws: `noPinsConfigured` or `domainValidationNeedsPinsOrTrust`.
    package func checkConfiguration() throws(TrustError) {
        switch pinningMode {
        case .none:
            // Without a trusted path a name proves nothing: anyone can write it into a certificate.
            if allowInvalidCertificates, validatesDomainName { throw .domainValidationNeedsPinsOrTrust }
        case .publicKey:
            if pinnedCertificates.isEmpty, pinnedPublicKeys.isEmpty { throw .noPinsConfigured }
        case .certificate:
            if pinnedCertificates.isEmpty { throw .noPinsConfigured }
        }
    }

    // MARK: The rules, in the order in which they are asked

    private func checkStructure(of trust: ServerTrust) throws(TrustError) -> Certificate {
        guard let leaf = trust.certificates.first else { throw .noCertificate }
        guard trust.certificates.count <= ServerTrust.largestCount,
            trust.certificates.reduce(0, { $0 + $1.der.count }) <= ServerTrust.largestSize
        else { throw .chainTooLarge }
        return leaf
    }

    private func decide(
        _ serverTrust: ServerTrust,
        leaf: Certificate,
        host: HostName?
    ) throws(TrustError) -> TrustDecision {
        if let host, !host.matches(leaf) {
            throw .domainMismatch(domain: host.text, names: leaf.dnsNames + leaf.ipAddresses)
        }
        if let weakness = KeyStrength.weakness(of: leaf.record.x509) { throw .weakKey(weakness) }
        let verifier = ChainVerifier(
            certificates: serverTrust.certificates,
            host: host,
            date: verificationDate,
            strictness: strictness,
            maximumIntermediates: maximumIntermediates,
            revocationLists: Array(revocationLists)
        )
        var anchoredPath: [Certificate] = []
        if !allowInvalidCertificates { anchoredPath = try checkAnchors(verifier) }
        guard let decision = try matchPins(leaf: leaf, verifier, anchoredPath: anchoredPath) else {
            throw pinMismatch(serverTrust, host: host)
        }
        try checkStapledResponse(of: serverTrust, path: decision.path)
        return decision
    }

    private func matchPins(
        leaf: Certificate,
        _ verifier: ChainVerifier,
        anchoredPath: [Certificate]
    ) throws(TrustError) -> TrustDecision? {
        switch pinningMode {
        case .none:
            return TrustDecision(basis: .systemTrust, path: anchoredPath)
        case .certificate:
            guard let path = try pinnedPath(verifier, along: anchoredPath, to: pinnedCertificates)
            else { return nil }
            return TrustDecision(basis: .pinnedCertificate, path: path, matchedPin: path.last?.publicKeyPin)
        case .publicKey:
            return try matchPublicKey(of: leaf, verifier, anchoredPath: anchoredPath)
        }
    }

    private func checkDomain(_ domain: String?) throws(TrustError) -> HostName? {
        guard validatesDomainName else { return nil }
        guard let domain else { throw .domainRequired }
        guard let host = HostName(domain) else { throw .domainInvalid(domain) }
        return host
    }

    private func checkAnchors(_ verifier: ChainVerifier) throws(TrustError) -> [Certificate] {
        guard let store = trustAnchors.store else {
            throw TrustError(.init(code: X509_V_ERR_OUT_OF_MEM, depth: 0, subject: ""))
        }
        do {
            return try verifier.path(to: store, partial: false)
        } catch {
            throw TrustError(error)
        }
    }

    /// A verified path to a pin; nil if there is none.
    ///
    /// Where the path to a trust anchor leads past a pin, its beginning is one: whatever is asked of a path to a pin was
    /// asked of that one, which goes further, and the signatures of a chain are most of what a verification costs.
    private func pinnedPath(
        _ verifier: ChainVerifier,
        along anchoredPath: [Certificate],
        to pins: Set<Certificate>
    ) throws(TrustError) -> [Certificate]? {
        if let end = anchoredPath.firstIndex(where: pins.contains) { return Array(anchoredPath[...end]) }
        guard !pins.isEmpty, let store = AnchorStore(pins) else { return nil }
        let path: [Certificate]
        do {
            path = try verifier.path(to: store, partial: true)
        } catch {
            // Revocation is worth its own word; anything else only means that no path to a pin is valid.
            if error.code == X509_V_ERR_CERT_REVOKED { throw TrustError(error) }
            return nil
        }
        // OpenSSL may go on behind a pinned certificate that is not self-signed; the first one is enough.
        guard let end = path.firstIndex(where: pins.contains) else { return nil }
        return Array(path[...end])
    }

    private func matchPublicKey(
        of leaf: Certificate,
        _ verifier: ChainVerifier,
        anchoredPath: [Certificate]
    ) throws(TrustError) -> TrustDecision? {
        let pins = pinnedPublicKeys.union(pinnedCertificates.map(\.publicKeyPin))
        if pins.contains(leaf.publicKeyPin) {
            let path = anchoredPath.isEmpty ? [leaf] : anchoredPath
            return TrustDecision(basis: .pinnedLeafKey, path: path, matchedPin: leaf.publicKeyPin)
        }
        var ends = pinnedCertificates
        if !allowInvalidCertificates {
            // Without a trusted path anyone could send a certificate of their own around a pinned public key.
            ends.formUnion((verifier.certificates + anchoredPath).filter { pins.contains($0.publicKeyPin) })
        }
        guard let path = try pinnedPath(verifier, along: anchoredPath, to: ends) else { return nil }
        return TrustDecision(basis: .pinnedKey, path: path, matchedPin: path.last?.publicKeyPin)
    }

    private func pinMismatch(_ trust: ServerTrust, host: HostName?) -> TrustError {
        let presented = trust.certificates.map { certificate in
            var pin = certificate.publicKeyPin
            pin.sighting = .init(
                subject: certificate.subject,
                notAfter: certificate.notAfter,
                host: host?.text
            )
            return pin
        }
        var pinned = pinnedCertificates.sortedByFingerprint.map { certificate in
            var pin = certificate.publicKeyPin
            pin.sighting = .init(subject: certificate.subject, notAfter: certificate.notAfter, host: nil)
            return pin
        }
        if pinningMode == .publicKey {
            pinned += pinnedPublicKeys.subtracting(pinned).sorted { $0.description < $1.description }
        }
        return .pinMismatch(presented: presented, pinned: pinned)
    }
}
