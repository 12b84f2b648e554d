import FoundationEssentials

extension SecurityPolicy {
    /// What is asked of the OCSP response that a server may send with its handshake.
    ///
    /// A good one says that the certificate is not revoked, is signed by its issuer or whom that authorized, and is current:
    /// from `thisUpdate` to `nextUpdate`, or for a day where it names no `nextUpdate`; clocks may be five minutes apart.
    public enum StapledOCSP: String, Sendable, Hashable, Codable {
        /// It is not looked at.
        case off
        /// One that was sent must be good; a certificate that demands one (RFC 7633) must come with it.
        case ifPresent
        /// Every server must send a good one.
        case required
    }

    /// Judges the stapled response once a path is accepted.
    func checkStapledResponse(of trust: ServerTrust, path: [Certificate]) throws(TrustError) {
        guard stapledOCSP != .off, let leaf = path.first else { return }
        let isRequired = stapledOCSP == .required || leaf.demandsStapledResponse
        guard let response = trust.stapledOCSPResponse, !response.isEmpty else {
            if isRequired { throw .revoked("no OCSP response was stapled, and one is required") }
            return
        }
        // A path may consist of the pinned leaf alone; its issuer is then only in what was sent.
        let others = path.dropFirst() + trust.certificates.dropFirst()
        guard let issuer = others.first(where: { $0.isIssuer(of: leaf) }) else {
            if isRequired {
                throw .revoked("the issuer, who must sign the stapled OCSP response, was not sent")
            }
            return
        }
        let judge = StapledResponse(leaf: leaf, issuer: issuer, date: verificationDate)
        if let problem = judge.problem(with: response) { throw .revoked(problem) }
    }
}
