import FoundationEssentials
import SecurityPolicy
import TestPKI
import Testing

@testable import NetManager

/// What may be recalled, and until when.
@Suite struct VerdictMemoryTests {
    private let root: Authority
    private let identity: Identity
    private let start = VerdictMemory.Moment(date: .now, monotonic: 1_000_000_000_000)

    init() throws {
        root = try Authority()
        identity = try root.intermediate().issue(.server("a.test"))
    }

    private func certificate(_ issued: IssuedCertificate) throws -> Certificate {
        try Certificate(der: issued.der)
    }

    private func policy() throws -> SecurityPolicy {
        SecurityPolicy(trustAnchors: .certificates([try certificate(root.certificate)]))
    }

    private func trust(_ identity: Identity, adding more: [IssuedCertificate] = []) throws -> ServerTrust {
        let own = try identity.chainDER.map { try Certificate(der: Data($0)) }
        return ServerTrust(certificates: try own + more.map(certificate))
    }

    private func moment(_ seconds: Double, byDate: Double? = nil) -> VerdictMemory.Moment {
        VerdictMemory.Moment(
            date: start.date + (byDate ?? seconds),
            monotonic: UInt64(Double(start.monotonic) + seconds * 1e9)
        )
    }

    private func subject(
        _ trust: ServerTrust,
        policyID: String = "p",
        host: String = "a.test"
    ) -> VerdictMemory.Subject {
        VerdictMemory.Subject(policyID: policyID, host: host, chain: trust.certificates)
    }

    /// Evaluates, remembers, and says whether it can be recalled at once.
    private func isKept(_ policy: SecurityPolicy, _ trust: ServerTrust) throws -> Bool {
        let memory = VerdictMemory()
        let decision = try policy.evaluate(trust, forDomain: "a.test")
        memory.remember(decision, of: policy, about: trust, subject(trust), since: start)
        return memory.decision(for: subject(trust), at: moment(1)) == decision
    }

    /// A memory that knows one acceptance since `start`.
    private func filled() throws -> (VerdictMemory, ServerTrust) {
        let (memory, policy, trust) = (VerdictMemory(), try policy(), try trust(identity))
        let decision = try policy.evaluate(trust, forDomain: "a.test")
        memory.remember(decision, of: policy, about: trust, subject(trust), since: start)
        return (memory, trust)
    }

    @Test func `an acceptance is recalled for the same policy, host and bytes, and for nothing else`() throws
    {
        let (memory, trust) = try filled()
        var changed = Array(trust.certificates[0].der)
        changed[changed.count - 1] ^= 1
        let other = ServerTrust(
            certificates: [try Certificate(der: Data(changed))] + trust.certificates.dropFirst()
        )
        let longer = ServerTrust(certificates: trust.certificates + [try certificate(root.certificate)])
        for unknown in [
            subject(other), subject(longer), subject(trust, policyID: "q"), subject(trust, host: "b.test"),
            subject(ServerTrust(certificates: Array(trust.certificates.prefix(1)))),
        ] {
            #expect(memory.decision(for: unknown, at: moment(1)) == nil)
        }
        #expect(memory.recalls == 0)
        #expect(memory.decision(for: subject(trust), at: moment(1))?.basis == .systemTrust)
        #expect(memory.recalls == 1)
    }

    @Test func `an acceptance is forgotten after five minutes`() throws {
        let (memory, trust) = try filled()
        #expect(memory.decision(for: subject(trust), at: moment(299)) != nil)
        #expect(memory.decision(for: subject(trust), at: moment(301)) == nil)
        // For good, and a recall has not made it younger.
        #expect(memory.decision(for: subject(trust), at: moment(1)) == nil)
        #expect(memory.count == 0)
    }

    @Test(arguments: [(10.0, -1.0), (10, 5), (10, 15), (-1, -1), (10, 400), (10, 86_400)])
    func `a clock that was set makes all doubtful`(seconds: Double, byDate: Double) throws {
        let (memory, trust) = try filled()
        #expect(memory.decision(for: subject(trust), at: moment(seconds, byDate: byDate)) == nil)
        #expect(memory.count == 0)
    }

    @Test func `nothing is kept past a date that an evaluation may look at`() throws {
        let soon = CertificateOptions.Validity(from: start.date - 3600, to: start.date + 120)
        let shortly = CertificateOptions.Validity(from: start.date + 120, to: start.date + 3600)
        let policy = try policy()
        #expect(try isKept(policy, try trust(identity)))

        let ending = try root.issue(.server("a.test").with { $0.validity = soon })
        #expect(try !isKept(policy, try trust(ending)))
        // It is sent along and is on no path.
        let beginning = try root.issue(.server("b.test").with { $0.validity = shortly })
        #expect(try !isKept(policy, try trust(identity, adding: [beginning.certificate])))

        var changed = policy
        changed.pinningMode = .publicKey
        changed.pinnedCertificates = [try certificate(root.certificate)]
        #expect(try isKept(changed, try trust(identity)))
        changed.pinnedCertificates.insert(try certificate(ending.certificate))
        #expect(try !isKept(changed, try trust(identity)))
        changed.pinnedCertificates = [try certificate(root.certificate)]
        changed.pinExpiration = start.date + 120
        #expect(try !isKept(changed, try trust(identity)))
        changed.pinExpiration = start.date + 3600
        #expect(try isKept(changed, try trust(identity)))

        let anchors: Set = [try certificate(root.certificate), try certificate(beginning.certificate)]
        #expect(try !isKept(SecurityPolicy(trustAnchors: .certificates(anchors)), try trust(identity)))
        // A policy that names the time does not look at the clock.
        let dated = SecurityPolicy(trustAnchors: .certificates(anchors), verificationDate: start.date)
        #expect(try isKept(dated, try trust(ending)))
    }

    @Test func `revocation and what is only audited are evaluated each time`() throws {
        let issuer = try Authority()
        let leaf = try issuer.issue(.server("a.test"))
        let list = try RevocationList(der: issuer.revocationList(revoking: []))
        var policy = SecurityPolicy(trustAnchors: .certificates([try certificate(issuer.certificate)]))
        #expect(try isKept(policy, try trust(leaf)))
        policy.revocationLists = [list]
        #expect(try !isKept(policy, try trust(leaf)))
        policy.revocationLists = []
        policy.stapledOCSP = .ifPresent
        #expect(try !isKept(policy, try trust(leaf)))
        policy.stapledOCSP = .off
        policy.pinningMode = .publicKey
        policy.pinnedCertificates = [try certificate(root.certificate)]
        policy.pinEnforcement = .audit
        #expect(try !isKept(policy, try trust(leaf)))
    }

    @Test func `what can no longer be kept is forgotten, too`() throws {
        let (memory, trust) = try filled()
        var policy = try policy()
        policy.stapledOCSP = .ifPresent
        let decision = try policy.evaluate(trust, forDomain: "a.test")
        memory.remember(decision, of: policy, about: trust, subject(trust), since: moment(1))
        #expect(memory.decision(for: subject(trust), at: moment(2)) == nil)
    }

    @Test func `the memory is bounded, and what was used last stays`() throws {
        let memory = VerdictMemory(capacity: 3)
        let (policy, trust) = (try policy(), try trust(identity))
        let decision = try policy.evaluate(trust, forDomain: "a.test")
        func add(_ host: String) {
            memory.remember(decision, of: policy, about: trust, subject(trust, host: host), since: start)
        }
        func isKnown(_ host: String) -> Bool {
            memory.decision(for: subject(trust, host: host), at: moment(1)) != nil
        }
        for host in ["a", "b", "c"] { add(host) }
        #expect(isKnown("a"))
        add("d")
        #expect(memory.count == 3)
        #expect(!isKnown("b"))
        #expect(isKnown("a") && isKnown("c") && isKnown("d"))
    }
}
