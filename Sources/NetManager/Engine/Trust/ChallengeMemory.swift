import SecurityPolicy

/// What a program's hook is asked about a server.
struct ServerTrustQuestion: Sendable {
    /// What an answer is for: this chain of this server, with this verdict of this policy under this hook.
    struct Subject: Hashable, Sendable {
        let host: String
        let port: Int
        /// Of the policy, the client identity and the hook together.
        let policyID: String
        let chain: [Certificate]
        /// Why the policy refuses; nil when it accepts.
        let refusal: TrustError?
    }

    let subject: Subject
    let challenge: ServerTrustChallenge

    init(_ challenge: ServerTrustChallenge, policyID: String) {
        self.challenge = challenge
        let refusal: TrustError? = if case .failure(let error) = challenge.verdict { error } else { nil }
        subject = Subject(
            host: challenge.host,
            port: challenge.port,
            policyID: policyID,
            chain: challenge.serverTrust.certificates,
            refusal: refusal
        )
    }

    /// Why an answer ends the transfers that wait for it; nil when they go on.
    ///
    /// Only the answer that is called dangerous goes beyond the policy.
    func failure(after answer: ServerTrustChallenge.Answer) -> TransferFailure? {
        switch answer {
        case .cancel: .challengeCancelled
        case .dangerouslyTrust: nil
        case .performDefaultHandling, .use: subject.refusal.map { .untrusted($0) }
        case .reject: .untrusted(subject.refusal ?? Self.rejection)
        }
    }

    // 50 is X509_V_ERR_APPLICATION_VERIFICATION.
    private static let rejection = TrustError.untrusted(
        code: 50,
        reason: "the program's own challenge hook rejected the server"
    )
    /// What the handshake ends with that shows the chain for the first time.
    static let unanswered = TrustError.untrusted(
        code: 50,
        reason: "the program's own challenge hook has not answered"
    )
    /// What a server ends with that shows another chain each time.
    static let restless = TrustError.untrusted(
        code: 50,
        reason: "the server showed a chain that the program's own challenge hook did not know in each of "
            + "\(limit) handshakes"
    )
    /// How often one transfer may ask.
    static let limit = 8
}

/// The chains that hooks have let pass: a value that knows no clock of its own.
///
/// Refusals are not remembered: the next request asks again. Times are nanoseconds of the monotonic clock.
struct ChallengeMemory {
    /// How long an answer is good for: hooks may change their mind.
    static let lifetime: UInt64 = 600 * 1_000_000_000

    /// The most chains that are kept; the oldest makes room.
    private let capacity: Int
    private var grants: [ServerTrustQuestion.Subject: UInt64] = [:]

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    mutating func grant(_ subject: ServerTrustQuestion.Subject, now: UInt64) {
        if grants.count >= capacity, grants[subject] == nil {
            grants = grants.filter { $0.value > now }
            if grants.count >= capacity, let oldest = grants.min(by: { $0.value < $1.value }) {
                grants[oldest.key] = nil
            }
        }
        grants[subject] = now &+ Self.lifetime
    }

    func isGranted(_ subject: ServerTrustQuestion.Subject, now: UInt64) -> Bool {
        grants[subject].map { $0 > now } ?? false
    }

    /// Whether a server is talked to although the policy refuses it.
    func overrules(host: String, port: Int, policyID: String, now: UInt64) -> Bool {
        grants.contains { subject, expiry in
            subject.refusal != nil && expiry > now && subject.port == port && subject.host == host
                && subject.policyID == policyID
        }
    }
}
