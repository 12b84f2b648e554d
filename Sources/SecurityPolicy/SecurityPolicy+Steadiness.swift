package import FoundationEssentials

extension SecurityPolicy {
    /// Whether an acceptance stays what it is through a span of time, however often the policy is evaluated in it.
    ///
    /// An evaluation reads nothing that can change but the clock, so it is enough that no date that it may compare with
    /// the clock lies in the span: the beginning or end of any certificate that was sent, pinned, trusted or verified,
    /// the end of the pins. Where more is at stake than that, the answer is no: with revocation lists or stapled
    /// responses, whose dates have rules of their own, and where a server was let through to be reported.
    package func isSteady(
        _ decision: TrustDecision,
        about trust: ServerTrust,
        during span: ClosedRange<Date>
    ) -> Bool {
        guard revocationLists.isEmpty, stapledOCSP == .off, trust.stapledOCSPResponse == nil,
            decision.auditedError == nil, decision.basis != .dangerouslyOverruled
        else { return false }
        // A policy that names the time knows no other.
        if verificationDate != nil { return true }
        if let pinExpiration, span.contains(pinExpiration) { return false }
        let certificates = trust.certificates + decision.path + pinnedCertificates
        return !certificates.contains { span.contains($0.notBefore) || span.contains($0.notAfter) }
            && trustAnchors.areSteady(during: span)
    }
}
