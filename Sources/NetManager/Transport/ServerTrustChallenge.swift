public import SecurityPolicy
import Synchronization

/// A server that has shown its certificates, and what the policy says about it: the question to a program's own hook.
///
/// It is what AFNetworking hands to the block of `setSessionDidReceiveAuthenticationChallengeBlock` for server trust. See
/// ``HTTPSessionManager/Configuration/serverTrustChallenge``.
public struct ServerTrustChallenge: Sendable {
    /// What a hook answers.
    public enum Answer: Sendable, Hashable {
        /// The policy decides, as without a hook.
        case performDefaultHandling
        /// The hook has no objection; the policy must accept the server too.
        case use
        /// The call ends as ``RequestError/Kind/cancelled``.
        case cancel
        /// The server is refused, whatever the policy says.
        case reject
        /// The server is talked to although the policy refuses it, with whatever the request holds.
        ///
        /// Nothing is proved then but that the server has the key of the certificate it showed. The answer is for this
        /// chain and for this refusal of the policy's; another chain, or another refusal, is asked about anew.
        case dangerouslyTrust
    }

    /// A hook.
    ///
    /// It is called on one of Swift's own threads and may await; it must not block its thread. Its task is cancelled
    /// when nobody waits for the answer any more.
    public typealias Handler = @Sendable (ServerTrustChallenge) async -> Answer

    /// The host that was asked for, in lower case.
    public let host: String
    /// Its port.
    public let port: Int
    /// What the server showed: its chain as it was sent, and the stapled response if the policy asks for one.
    public let serverTrust: ServerTrust
    /// The policy that has judged it.
    public let policy: SecurityPolicy
    /// What the policy says.
    public let verdict: Result<TrustDecision, TrustError>

    /// Makes a challenge, for tests of hooks.
    public init(
        host: String,
        port: Int = 443,
        serverTrust: ServerTrust,
        policy: SecurityPolicy,
        verdict: Result<TrustDecision, TrustError>
    ) {
        self.host = host
        self.port = port
        self.serverTrust = serverTrust
        self.policy = policy
        self.verdict = verdict
    }
}

/// A hook with an identity.
///
/// Closures cannot be compared, and a connection that one hook let pass must not be used under another.
package struct ServerTrustHook: Sendable {
    private static let lastNumber = Atomic<UInt64>(0)

    package let number: UInt64
    package let handler: ServerTrustChallenge.Handler

    package init(_ handler: @escaping ServerTrustChallenge.Handler) {
        number = Self.lastNumber.add(1, ordering: .relaxed).newValue
        self.handler = handler
    }
}
