import SecurityPolicy

/// What a program's hook makes of the policy's verdict.
extension TLSVerification {
    /// Whom to ask about a server.
    struct ChallengeDesk {
        let challenges: TrustChallenges
        let port: Int
    }

    /// Lets the hook's answer to this chain and verdict count; where there is none yet, the server is refused and the
    /// question is left in ``question``.
    func answered(_ verdict: Verdict, _ trust: ServerTrust) -> Verdict {
        guard let desk else { return verdict }
        let challenge = ServerTrustChallenge(
            host: host,
            port: desk.port,
            serverTrust: trust,
            policy: policy,
            verdict: verdict
        )
        let question = ServerTrustQuestion(challenge, policyID: policyID)
        guard desk.challenges.isGranted(question) else {
            self.question = question
            return .failure(ServerTrustQuestion.unanswered)
        }
        guard case .failure(let error) = verdict else { return verdict }
        let path = trust.certificates.first.map { [$0] } ?? []
        return .success(TrustDecision(basis: .dangerouslyOverruled, path: path, auditedError: error))
    }
}
