import FoundationEssentials
import SecurityPolicy
import TestPKI
import Testing

@testable import NetManager

@Suite struct ChallengeMemoryTests {
    private static let minute: UInt64 = 60 * 1_000_000_000

    private func question(
        host: String = "a.test",
        port: Int = 443,
        policyID: String = "p",
        chain: [Certificate] = [],
        refusal: TrustError? = nil
    ) -> ServerTrustQuestion {
        ServerTrustQuestion(
            ServerTrustChallenge(
                host: host,
                port: port,
                serverTrust: ServerTrust(certificates: chain),
                policy: .default,
                verdict: refusal.map { .failure($0) }
                    ?? .success(TrustDecision(basis: .systemTrust, path: []))
            ),
            policyID: policyID
        )
    }

    @Test func `an answer is good for one chain of one server under one policy and verdict`() throws {
        let certificate = try Certificate(der: Identity.selfSigned(.server("a.test")).certificateDER)
        var memory = ChallengeMemory(capacity: 8)
        memory.grant(question().subject, now: 0)
        #expect(memory.isGranted(question().subject, now: 1))
        for other in [
            question(host: "b.test"), question(port: 8443), question(policyID: "q"),
            question(chain: [certificate]), question(refusal: .noCertificate),
        ] {
            #expect(!memory.isGranted(other.subject, now: 1))
        }
    }

    @Test func `an answer is forgotten after ten minutes`() {
        var memory = ChallengeMemory(capacity: 8)
        memory.grant(question().subject, now: 0)
        #expect(memory.isGranted(question().subject, now: 10 * Self.minute - 1))
        #expect(!memory.isGranted(question().subject, now: 10 * Self.minute))
        memory.grant(question().subject, now: 10 * Self.minute)
        #expect(memory.isGranted(question().subject, now: 19 * Self.minute))
    }

    @Test func `the oldest answer makes room`() {
        var memory = ChallengeMemory(capacity: 2)
        for (number, host) in ["a.test", "b.test", "c.test"].enumerated() {
            memory.grant(question(host: host).subject, now: UInt64(number))
        }
        let kept = ["a.test", "b.test", "c.test"].filter {
            memory.isGranted(question(host: $0).subject, now: 3)
        }
        #expect(kept == ["b.test", "c.test"])
    }

    @Test func `names go unchecked only where a refusal was overruled`() {
        var memory = ChallengeMemory(capacity: 8)
        memory.grant(question().subject, now: 0)
        func overrules(_ host: String, _ now: UInt64) -> Bool {
            memory.overrules(host: host, port: 443, policyID: "p", now: now)
        }
        #expect(!overrules("a.test", 1))
        memory.grant(question(host: "b.test", refusal: .noCertificate).subject, now: 0)
        #expect(overrules("b.test", 1))
        #expect(!overrules("a.test", 1))
        #expect(!overrules("b.test", 10 * Self.minute))
    }

    @Test func `only the dangerous answer lets pass what the policy refuses`() {
        let refused = question(refusal: .noCertificate)
        let accepted = question()
        func passes(_ question: ServerTrustQuestion, _ answer: ServerTrustChallenge.Answer) -> Bool {
            question.failure(after: answer) == nil
        }
        #expect(passes(refused, .dangerouslyTrust) && passes(accepted, .dangerouslyTrust))
        for answer in [ServerTrustChallenge.Answer.use, .performDefaultHandling] {
            #expect(passes(accepted, answer))
            #expect(!passes(refused, answer))
        }
        for answer in [ServerTrustChallenge.Answer.cancel, .reject] {
            #expect(!passes(accepted, answer))
            #expect(!passes(refused, answer))
        }
    }
}
