import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct TrustErrorTests {
    private let tree: PrivateTree

    init() throws { tree = try PrivateTree() }

    @Test func `a pin failure prints host, keys by position, expected pins and lines to paste`() throws {
        let backup = try #require(PublicKeyPin(digest: Data(repeating: 7, count: 32)))
        let stranger = try PrivateTree()
        var policy = try tree.policy(.publicKey, pins: [stranger.root.certificate])
        policy.pinnedPublicKeys = [backup]
        let error = try #require(policy.refusal(try tree.leaf.trust, "api.test"))
        let lines = "\(error)".split(separator: "\n").map(String.init)
        let leaf = try tree.leaf.leaf
        let issuing = try tree.intermediate.asCertificate
        let year = Calendar(identifier: .gregorian).component(.year, from: issuing.notAfter)
        #expect(lines[0].contains("api.test"))
        #expect(lines[2].hasPrefix("  1. \(leaf.publicKeyPin)"))
        #expect(lines[3].hasPrefix("  2. \(issuing.publicKeyPin)  CN=Private Issuing, until \(year)-"))
        #expect(lines[5].hasPrefix("  \(try stranger.root.asCertificate.publicKeyPin)  CN=Private Root"))
        #expect(lines[6] == "  \(backup)")
        #expect(lines.suffix(2) == ["  \(leaf.publicKeyPin)", "  \(issuing.publicKeyPin)"])
    }

    @Test func `a pasted pin is accepted the next time`() throws {
        let policy = try tree.policy(.publicKey, pins: [PrivateTree().leaf.certificate])
        let error = try #require(policy.refusal(try tree.leaf.trust, "api.test"))
        let pasted = try #require(PublicKeyPin(String("\(error)".split(separator: "\n").last ?? "")))
        var corrected = policy
        corrected.pinnedPublicKeys = [pasted]
        #expect(corrected.accepts(try tree.leaf.trust, forDomain: "api.test"))
    }

    @Test func `an untrusted chain tells which certificate is at fault and what to do`() throws {
        func text(_ options: CertificateOptions) throws -> String {
            let trust = try tree.intermediate.issue(options).trust
            return try #require(try tree.policy().refusal(trust, "api.test")).description
        }
        let expired = try text(.server("api.test").with { $0.validity = .expired })
        #expect(expired.contains("expired"))
        #expect(expired.contains("error 10"))
        #expect(expired.contains("clock"))
        #expect(try text(.server("api.test").with { $0.validity = .notYet }).contains("clock"))
        #expect(try text(.server("api.test").with { $0.digest = .sha1 }).contains("SHA-256"))
        let purpose = try text(.server("api.test").with { $0.extendedKeyUsage = ["clientAuth"] })
        #expect(purpose.contains("TLS servers"))
        #expect(try text(.server("other.test")).contains("other.test"))
        #expect(try text(.server()).contains("no host at all"))
        #expect(try text(.server("api.test").with { $0.key = .new(.rsa(1024)) }).contains("2048"))
        let stranger = try Identity.selfSigned(.server("api.test")).trust
        let untrusted = try #require(try tree.policy().refusal(stranger, "api.test"))
        #expect("\(untrusted)".contains("trustAnchors"))
        let missing = try #require(try tree.policy().refusal(tree.leaf.sending([]).trust, "api.test"))
        #expect("\(missing)".contains("intermediate"))
    }

    @Test func `every error says something of its own`() {
        let pin = PublicKeyPin(digest: Data(count: 32)).map { [$0] } ?? []
        let errors: [TrustError] = [
            .noCertificate, .chainTooLarge, .noPinsConfigured, .domainValidationNeedsPinsOrTrust,
            .domainRequired,
            .domainInvalid("a\nb"), .domainMismatch(domain: "a", names: ["b"]),
            .weakKey("RSA with 1024 bits"),
            .untrusted(code: 20, reason: "r"), .untrusted(code: 47, reason: "r"),
            .untrusted(code: 7, reason: "r"),
            .untrusted(code: Int.max, reason: "r"), .pinMismatch(presented: pin, pinned: pin),
            .pinMismatch(presented: [], pinned: []), .revoked("r"),
        ]
        let texts = Set(errors.map(\.description))
        #expect(texts.count == errors.count)
        #expect(texts.allSatisfy { $0.count > 30 })
        #expect(TrustError.domainInvalid("a\nb").description.contains("a\\x0ab"))
    }

    @Test func `where a pin was seen does not make it another pin`() throws {
        let policy = try tree.policy(.certificate, pins: [PrivateTree().leaf.certificate])
        guard case .pinMismatch(let presented, _) = policy.refusal(try tree.leaf.trust, "api.test") else {
            Issue.record("not a pin mismatch")
            return
        }
        #expect(
            presented == [try tree.leaf.leaf.publicKeyPin, try tree.intermediate.asCertificate.publicKeyPin]
        )
        #expect(Set(presented).contains(try tree.leaf.leaf.publicKeyPin))
    }

    @Test func `the errors of the contract can be caught by name`() throws {
        let policy = try tree.policy(.certificate, pins: [PrivateTree().leaf.certificate])
        do {
            try policy.evaluate(try tree.leaf.trust, forDomain: "api.test")
            Issue.record("accepted")
        } catch let error as TrustError {
            guard case .pinMismatch(let presented, let pinned) = error else { throw error }
            #expect((presented.count, pinned.count) == (2, 1))
        }
    }
}
