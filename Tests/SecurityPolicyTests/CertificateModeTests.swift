import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct CertificateModeTests {
    let web: WebTree

    init() throws { web = try WebTree() }

    private func decision(_ pins: IssuedCertificate..., domain: String = "httpbin.org") throws
        -> TrustDecision
    {
        try web.policy(.certificate, pins: pins).evaluate(web.trust, forDomain: domain)
    }

    @Test func `case 61: an intermediate is pinned`() throws {
        let decision = try decision(web.serverCA)
        #expect(decision.basis == .pinnedCertificate)
        #expect(decision.path == [try web.leaf.leaf, try web.serverCA.asCertificate])
        #expect(decision.matchedPin == (try web.serverCA.asCertificate.publicKeyPin))
    }

    @Test func `case 62: a cross-signed root is pinned`() throws {
        #expect(try decision(web.crossRoot).path.last == web.crossRoot.asCertificate)
    }

    @Test func `case 64: a further pin does no harm`() throws {
        #expect(
            try decision(web.leaf.certificate, SelfSigned.withCommonName.certificate).path == [web.leaf.leaf]
        )
    }

    @Test func `case 65: a pinned leaf passes for its name`() throws {
        #expect(try decision(web.leaf.certificate).basis == .pinnedCertificate)
    }

    @Test func `case 67: a policy without pins accepts nobody`() throws {
        #expect(try web.policy(.certificate, pins: []).refusal(web.trust, "httpbin.org") == .noPinsConfigured)
        var hashesOnly = try web.policy(.certificate, pins: [])
        hashesOnly.pinnedPublicKeys = [try web.leaf.leaf.publicKeyPin]
        #expect(hashesOnly.refusal(web.trust, "httpbin.org") == .noPinsConfigured)
    }

    @Test func `case 68: another server's chain is refused`() throws {
        let foreign = try WebTree()
        let refusal = try foreign.policy(.certificate, pins: [web.leaf.certificate])
            .refusal(foreign.trust, "httpbin.org")
        guard case .pinMismatch(let presented, let pinned) = refusal else {
            Issue.record("not a pin mismatch: \(String(describing: refusal))")
            return
        }
        #expect(presented == foreign.trust.certificates.map(\.publicKeyPin))
        #expect(pinned == [try web.leaf.leaf.publicKeyPin])
    }

    @Test func `case 70: a pinned certificate without names is refused when names are checked`() throws {
        let nameless = try SelfSigned.withoutNames
        let policy = try web.policy(.certificate, pins: [nameless.certificate], allowInvalid: true)
        #expect(
            policy.refusal(try nameless.trust, "foobar.com")
                == .domainMismatch(domain: "foobar.com", names: [])
        )
    }

    @Test func `cases 71 and 73: a pinned self-signed certificate passes for its name only`() throws {
        let foobar = try SelfSigned.withAlternativeName
        let policy = try web.policy(.certificate, pins: [foobar.certificate], allowInvalid: true)
        #expect(policy.accepts(try foobar.trust, forDomain: "foobar.com"))
        #expect(!policy.accepts(try foobar.trust, forDomain: "bar.com"))
    }

    @Test func `case 74: a pinned certificate without names passes when names are not checked`() throws {
        let nameless = try SelfSigned.withoutNames
        let policy = try web.policy(.certificate, pins: [nameless.certificate], allowInvalid: true)
            .withoutNames
        #expect(policy.accepts(try nameless.trust, forDomain: "foobar.com"))
    }

    @Test func `case 76: a pinned self-signed certificate needs invalid ones to be allowed`() throws {
        let foobar = try SelfSigned.withAlternativeName
        let policy = try web.policy(.certificate, pins: [foobar.certificate])
        #expect(policy.code(try foobar.trust, "foobar.com") == 18)
    }

    @Test func `cases 77 and 79: a pinned private authority vouches for its leaves by name`() throws {
        let tree = try PrivateTree()
        let leaf = try tree.root.issue(.server("api.test"))
        let other = try tree.root.issue(.server("other.test"))
        let policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try tree.root.asCertificate],
            allowInvalidCertificates: true,
            trustAnchors: .certificates([])
        )
        #expect(policy.accepts(try leaf.appending([tree.root.certificate]).trust, forDomain: "api.test"))
        #expect(policy.accepts(try leaf.trust, forDomain: "api.test"))
        #expect(!policy.accepts(try other.trust, forDomain: "api.test"))
        #expect(policy.withoutNames.accepts(try other.trust, forDomain: "api.test"))
    }

    @Test func `case 80: a renewed root is found by the pin of the old one`() throws {
        let tree = try PrivateTree()
        let renewed = try Identity.selfSigned(
            .authority(commonName: "Private Root").with { $0.key = .existing(tree.root.key) }
        )
        #expect(renewed.certificate != tree.root.certificate)
        let chain = try sent(tree.leaf.certificate, tree.intermediate.certificate, renewed.certificate)
        var policy = try tree.policy(.certificate, pins: [tree.root.certificate])
        policy.trustAnchors = .certificates([try renewed.leaf])
        let decision = try policy.evaluate(chain, forDomain: "api.test")
        #expect(decision.path.last == (try tree.root.asCertificate))
    }

    @Test(arguments: [true, false])
    func `cases 82 and 83: an expired leaf is refused whatever is pinned`(allowInvalid: Bool) throws {
        let tree = try PrivateTree()
        let expired = try tree.intermediate.issue(.server("api.test").with { $0.validity = .expired })
        for pin in [expired.certificate, tree.intermediate.certificate, tree.root.certificate] {
            let policy = try tree.policy(.certificate, pins: [pin], allowInvalid: allowInvalid)
            #expect(!policy.accepts(try expired.trust, forDomain: "api.test"))
        }
    }

    @Test(arguments: [true, false])
    func `case 85: a pinned leaf does not vouch for another leaf of its issuer`(allowInvalid: Bool) throws {
        let tree = try PrivateTree()
        let other = try tree.intermediate.issue(.server("api.test"))
        let policy = try tree.policy(.certificate, pins: [other.certificate], allowInvalid: allowInvalid)
        #expect(!policy.accepts(try tree.leaf.trust, forDomain: "api.test"))
    }

    @Test(arguments: [true, false])
    func `case 86: a client's certificate is no server's certificate`(checksName: Bool) throws {
        let tree = try PrivateTree()
        let client = try tree.intermediate.issue(
            .server("api.test").with { $0.extendedKeyUsage = ["clientAuth"] }
        )
        for allowInvalid in [true, false] {
            let policy = try tree.policy(
                .certificate,
                pins: [client.certificate],
                allowInvalid: allowInvalid,
                checksName: checksName
            )
            #expect(!policy.accepts(try client.trust, forDomain: "api.test"))
        }
    }

    @Test func `a pinned leaf passes although an expired intermediate is sent with it`() throws {
        let root = try Authority(commonName: "Old Root")
        let expired = try root.intermediate(
            .authority(commonName: "Expired Issuing").with { $0.validity = .expired }
        )
        let leaf = try expired.issue(.server("api.test"))
        let policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try leaf.leaf],
            allowInvalidCertificates: true,
            trustAnchors: .certificates([])
        )
        #expect(policy.accepts(try leaf.trust, forDomain: "api.test"))
        #expect(policy.accepts(try leaf.sending([]).trust, forDomain: "api.test"))
    }

    @Test func `a pinned intermediate completes a chain that the server sends without it`() throws {
        let tree = try PrivateTree()
        let policy = try tree.policy(.certificate, pins: [tree.intermediate.certificate], allowInvalid: true)
        #expect(policy.accepts(try tree.leaf.sending([]).trust, forDomain: "api.test"))
    }
}
