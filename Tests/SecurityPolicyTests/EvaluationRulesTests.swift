import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct EvaluationRulesTests {
    private let tree: PrivateTree

    init() throws { tree = try PrivateTree() }

    @Test func `no certificate is the first error`() throws {
        #expect(
            SecurityPolicy(pinningMode: .certificate).refusal(ServerTrust(certificates: []), nil)
                == .noCertificate
        )
        #expect(throws: TrustError.noCertificate) { try ServerTrust(derCertificates: []) }
    }

    @Test func `33 certificates are too many, 32 are not`() throws {
        let filler = try tree.root.asCertificate
        let policy = try tree.policy()
        var trust = try tree.leaf.trust
        trust.certificates += Array(repeating: filler, count: 30)
        #expect(trust.certificates.count == 32)
        #expect(policy.accepts(trust, forDomain: "api.test"))
        trust.certificates.append(filler)
        #expect(policy.refusal(trust, "api.test") == .chainTooLarge)
        let everything = SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false)
        #expect(everything.refusal(trust, nil) == .chainTooLarge)
        let bytes = trust.certificates.map { [UInt8]($0.der) }
        #expect(throws: TrustError.chainTooLarge) { try ServerTrust(derCertificates: bytes) }
    }

    @Test func `more than 128 KiB of certificates are too many`() throws {
        let big = try Identity.selfSigned(
            CertificateOptions().with {
                $0.extensions = [("1.2.3.4", "ASN1:UTF8String:" + String(repeating: "x", count: 70_000))]
            }
        )
        let trust = try tree.leaf.appending([big.certificate]).trust
        #expect(try tree.policy().accepts(trust, forDomain: "api.test"))
        let twice = try tree.leaf.appending([big.certificate, big.certificate]).trust
        #expect(try tree.policy().refusal(twice, "api.test") == .chainTooLarge)
    }

    @Test func `a chain that cannot be parsed is untrusted with its position`() throws {
        let chain = [[UInt8](tree.leaf.certificateDER), [0x30, 0x03, 0x02, 0x01, 0x05]]
        let error = #expect(throws: TrustError.self) { try ServerTrust(derCertificates: chain) }
        guard case .untrusted(1, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("certificate 2 of 2 cannot be parsed"))
        let trailing = [[UInt8](tree.leaf.certificateDER) + [0]]
        #expect(throws: TrustError.self) { try ServerTrust(derCertificates: trailing) }
        #expect(throws: TrustError.self) { try ServerTrust(derCertificates: [[]]) }
        let whole = try ServerTrust(derCertificates: tree.leaf.chainDER.map { [UInt8]($0) })
        #expect(whole == (try tree.leaf.trust))
    }

    @Test func `the configuration is judged before the host, the host before the chain`() throws {
        let stranger = try Identity.selfSigned(.server("other.test").with { $0.key = .new(.rsa(1024)) }).trust
        var policy = SecurityPolicy(pinningMode: .certificate, trustAnchors: .certificates([]))
        #expect(policy.refusal(stranger, nil) == .noPinsConfigured)
        policy.pinnedCertificates = [try tree.root.asCertificate]
        #expect(policy.refusal(stranger, nil) == .domainRequired)
        #expect(policy.refusal(stranger, "a b") == .domainInvalid("a b"))
        guard case .domainMismatch = policy.refusal(stranger, "api.test") else {
            Issue.record("names come next"); return
        }
        guard case .weakKey = policy.refusal(stranger, "other.test") else {
            Issue.record("keys come next"); return
        }
        let strong = try Identity.selfSigned(.server("other.test")).trust
        #expect(policy.code(strong, "other.test") == 18)
        policy.allowInvalidCertificates = true
        guard case .pinMismatch = policy.refusal(strong, "other.test") else {
            Issue.record("pins come last"); return
        }
    }

    @Test func `a weak key is refused although it is pinned`() throws {
        let weak = try Identity.selfSigned(.server("api.test").with { $0.key = .new(.rsa(1024)) })
        for mode in [SecurityPolicy.PinningMode.certificate, .publicKey] {
            let policy = try tree.policy(mode, pins: [weak.certificate], allowInvalid: true)
            guard case .weakKey(let reason) = policy.refusal(try weak.trust, "api.test") else {
                Issue.record("accepted in mode \(mode)")
                return
            }
            #expect(reason.contains("1024"))
        }
        let everything = SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false)
        #expect(everything.accepts(try weak.trust, forDomain: nil))
    }

    @Test(arguments: [KeyKind.p256, .p384, .rsa(2048), .ed25519])
    func `usual keys are strong enough`(kind: KeyKind) throws {
        let leaf = try tree.intermediate.issue(.server("api.test").with { $0.key = .new(kind) })
        #expect(try tree.policy().accepts(leaf.trust, forDomain: "api.test"))
    }

    @Test func `a weak authority is refused with error 67`() throws {
        let weak = try tree.root.intermediate(
            .authority(commonName: "Weak").with { $0.key = .new(.rsa(1024)) }
        )
        #expect(try tree.policy().code(weak.issue(.server("api.test")).trust, "api.test") == 67)
    }

    @Test func `a SHA-1 signature is refused, but not the one on a pin itself`() throws {
        let leaf = try tree.intermediate.issue(.server("api.test").with { $0.digest = .sha1 })
        #expect(try tree.policy().code(leaf.trust, "api.test") == 68)
        let pinned = try tree.policy(.certificate, pins: [leaf.certificate], allowInvalid: true)
        #expect(pinned.accepts(try leaf.sending([]).trust, forDomain: "api.test"))
    }

    @Test func `name constraints apply to the host that a wildcard would cover`() throws {
        let constrained = try tree.root.intermediate(
            .authority(commonName: "Constrained").with { $0.nameConstraints = ["excluded;DNS:secret.test"] }
        )
        let leaf = try constrained.issue(.server("*.test"))
        // Two labels must follow a wildcard.
        #expect(try !tree.policy().accepts(leaf.trust, forDomain: "secret.test"))
        let below = try tree.root.intermediate(
            .authority(commonName: "Below").with { $0.nameConstraints = ["excluded;DNS:secret.api.test"] }
        )
        let wildcard = try below.issue(.server("*.api.test"))
        #expect(try tree.policy().accepts(wildcard.trust, forDomain: "open.api.test"))
        #expect(try tree.policy().code(wildcard.trust, "secret.api.test") == 48)
        let pinned = try tree.policy(.certificate, pins: [tree.root.certificate], allowInvalid: true)
        #expect(pinned.accepts(try wildcard.trust, forDomain: "open.api.test"))
        #expect(!pinned.accepts(try wildcard.trust, forDomain: "secret.api.test"))
        #expect(pinned.withoutNames.accepts(try wildcard.trust, forDomain: "secret.api.test"))
    }

    @Test func `name constraints that cannot be meant or compared are refused`() throws {
        let policy = try tree.policy()
        // 52 is X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX.
        let own = try tree.intermediate.issue(
            .server("api.test").with { $0.nameConstraints = ["permitted;DNS:api.test"] }
        )
        #expect(policy.code(try own.trust, "api.test") == 52)
        for empty in ["DER:3000", "critical,DER:3000", "DER:3004A000A100"] {
            let authority = try tree.root.intermediate(
                .authority(commonName: "Empty").with { $0.extensions = [("nameConstraints", empty)] }
            )
            #expect(policy.code(try authority.issue(.server("api.test")).trust, "api.test") == 52)
        }
        let limited = try tree.root.intermediate(
            .authority(commonName: "Limited").with { $0.nameConstraints = ["permitted;DNS:test"] }
        )
        let odd = CertificateOptions.server(.dns("api.test"), .dns(".api.test"))
        #expect(policy.code(try limited.issue(odd).trust, "api.test") == 52)
        #expect(
            policy.accepts(try limited.issue(.server("api.test", "*.api.test")).trust, forDomain: "api.test")
        )
        // Without constraints there is nothing to compare with.
        #expect(policy.accepts(try tree.intermediate.issue(odd).trust, forDomain: "api.test"))
    }

    @Test func `constraints on addresses apply to addresses`() throws {
        let local = try tree.root.intermediate(
            .authority(commonName: "Local").with { $0.nameConstraints = ["permitted;IP:10.0.0.0/255.0.0.0"] }
        )
        #expect(try tree.policy().accepts(local.issue(.server("10.1.2.3")).trust, forDomain: "10.1.2.3"))
        #expect(try tree.policy().code(local.issue(.server("192.0.2.1")).trust, "192.0.2.1") == 47)
        // A name is not an address: the constraint says nothing about it.
        #expect(try tree.policy().accepts(local.issue(.server("api.test")).trust, forDomain: "api.test"))
    }

    @Test func `a dead end is left and another path taken`() throws {
        let stranger = try Authority(commonName: "Stranger")
        let crossed = try stranger.crossSigned(
            tree.intermediate,
            .authority(commonName: "Private Issuing", pathLength: 0)
        )
        for extra in [[crossed.certificate], [crossed.certificate, stranger.certificate]] {
            let chain = try tree.leaf.sending(extra + [tree.intermediate.certificate]).trust
            #expect(try tree.policy().accepts(chain, forDomain: "api.test"))
        }
    }

    @Test func `an issuer of the right name and the wrong key does not hide the right one`() throws {
        let identifier = try #require(try tree.intermediate.certificate.subjectKeyIdentifier)
        let double = try tree.root.intermediate(
            .authority(commonName: "Private Issuing").with { $0.subjectKeyIdentifier = .bytes(identifier) }
        )
        let chain = try tree.leaf.sending([double.certificate, tree.intermediate.certificate]).trust
        #expect(try tree.policy().accepts(chain, forDomain: "api.test"))
        let alone = try tree.leaf.sending([double.certificate]).trust
        #expect(try tree.policy().code(alone, "api.test") == 7)
    }

    @Test func `certificates that all certify each other cost little`() throws {
        let loop = try Authority(commonName: "Loop")
        let copies = try (0..<31).map { _ in
            try loop.certify(loop.key.publicKeyDER, .authority(commonName: "Loop"))
        }
        let trust = try loop.issue(.server("api.test")).sending(copies).trust
        let policy = try tree.policy()
        let spent = ContinuousClock().measure { #expect(!policy.accepts(trust, forDomain: "api.test")) }
        // Without limits the search would not end; a slow machine needs some hundredths of a second.
        #expect(spent < .seconds(5))
    }

    @Test func `order, duplicates and strangers in the chain do not matter`() throws {
        let deeper = try tree.root.intermediate(.authority(commonName: "Upper"))
        let lower = try deeper.intermediate(.authority(commonName: "Lower"))
        let leaf = try lower.issue(.server("api.test"))
        let stranger = try Authority(commonName: "Stranger").certificate
        let chain = leaf.sending([
            stranger, tree.root.certificate, deeper.certificate, leaf.certificate, lower.certificate,
            stranger,
        ])
        #expect(try tree.policy().accepts(chain.trust, forDomain: "api.test"))
    }

    @Test func `eight intermediates are accepted, nine are not`() throws {
        var issuer = tree.root
        for level in 1...8 { issuer = try issuer.intermediate(.authority(commonName: "Level \(level)")) }
        #expect(try tree.policy().accepts(issuer.issue(.server("api.test")).trust, forDomain: "api.test"))
        issuer = try issuer.intermediate(.authority(commonName: "Level 9"))
        #expect(try !tree.policy().accepts(issuer.issue(.server("api.test")).trust, forDomain: "api.test"))
    }

    @Test func `a leaf that acts as an authority is refused`() throws {
        let falseCA = Authority(
            certificate: tree.leaf.certificate,
            key: tree.leaf.key,
            sentWithLeaves: tree.leaf.chain
        )
        let below = try falseCA.issue(.server("api.test"))
        #expect(try tree.policy().code(below.trust, "api.test") != 0)
        let pinned = try tree.policy(.certificate, pins: [tree.root.certificate], allowInvalid: true)
        #expect(!pinned.accepts(try below.trust, forDomain: "api.test"))
    }

    @Test func `many threads may evaluate one policy`() async throws {
        let policy = try tree.policy(.publicKey, pins: [tree.intermediate.certificate])
        let trust = try tree.leaf.trust
        let accepted = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<50).count { _ in policy.accepts(trust, forDomain: "api.test") } }
            }
            return await group.reduce(0, +)
        }
        #expect(accepted == 400)
    }
}
