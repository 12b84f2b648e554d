import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct PublicKeyModeTests {
    let web: WebTree

    init() throws { web = try WebTree() }

    private func accepts(_ pins: IssuedCertificate..., domain: String? = nil) throws -> Bool {
        let policy = try web.policy(.publicKey, pins: pins)
        return (domain == nil ? policy.withoutNames : policy).accepts(web.trust, forDomain: domain)
    }

    @Test func `case 38: the leaf's key is pinned`() throws {
        #expect(try accepts(web.leaf.certificate))
        let decision = try web.policy(.publicKey, pins: [web.leaf.certificate])
            .evaluate(web.trust, forDomain: "httpbin.org")
        #expect(decision.basis == .pinnedLeafKey)
        #expect(decision.matchedPin == (try web.leaf.leaf.publicKeyPin))
        #expect(decision.path.count == 3)
    }

    @Test func `case 40: the root's key is pinned through its cross-signed certificate`() throws {
        #expect(try accepts(web.crossRoot))
    }

    @Test func `case 41: the whole chain is pinned`() throws {
        #expect(try accepts(web.leaf.certificate, web.serverCA, web.crossRoot, web.olderRoot))
    }

    @Test func `case 43: a pinned leaf passes for its name`() throws {
        #expect(try accepts(web.leaf.certificate, domain: "httpbin.org"))
    }

    @Test func `case 44: a pinned leaf is refused for another name`() throws {
        #expect(try !accepts(web.leaf.certificate, domain: "invaliddomainname.com"))
    }

    @Test func `cases 46 and 47: another server's chain is refused`() throws {
        let foreign = try WebTree()
        let other = try SelfSigned.withCommonName.certificate
        for pins in [[web.leaf.certificate], [web.leaf.certificate, other]] {
            var policy = try foreign.policy(.publicKey, pins: pins)
            guard case .pinMismatch = policy.refusal(foreign.trust, "httpbin.org") else {
                Issue.record("a foreign chain was not a pin mismatch")
                return
            }
            policy.validatesDomainName = false
            #expect(!policy.accepts(foreign.trust, forDomain: nil))
        }
    }

    @Test func `case 49: a pinned self-signed certificate passes if invalid ones are allowed`() throws {
        let foobar = try SelfSigned.withAlternativeName
        let policy = try web.policy(.publicKey, pins: [foobar.certificate], allowInvalid: true)
        #expect(policy.accepts(try foobar.trust, forDomain: "foobar.com"))
    }

    @Test func `case 50: a policy without pins accepts nobody`() throws {
        let policy = try web.policy(.publicKey, pins: [], allowInvalid: true)
        #expect(policy.refusal(try SelfSigned.withAlternativeName.trust, "foobar.com") == .noPinsConfigured)
        #expect(throws: TrustError.noPinsConfigured) { try policy.checkConfiguration() }
    }

    @Test func `case 52: a renewed certificate with the same key passes`() throws {
        let tree = try PrivateTree()
        let renewed = try tree.intermediate.issue(
            .server("api.test").with { $0.key = .existing(tree.leaf.key) }
        )
        #expect(renewed.certificate != tree.leaf.certificate)
        let policy = try tree.policy(.publicKey, pins: [tree.leaf.certificate])
        #expect(policy.accepts(try renewed.trust, forDomain: "api.test"))
    }

    @Test func `case 53: a renewed certificate with another key is refused`() throws {
        let tree = try PrivateTree()
        let renewed = try tree.intermediate.issue(.server("api.test"))
        let policy = try tree.policy(.publicKey, pins: [tree.leaf.certificate])
        #expect(!policy.accepts(try renewed.trust, forDomain: "api.test"))
    }

    @Test
    func `case 55: the name is checked although the key is pinned and invalid certificates are allowed`()
        throws
    {
        let nameless = try SelfSigned.withoutNames
        let policy = try web.policy(.publicKey, pins: [nameless.certificate], allowInvalid: true)
        #expect(
            policy.refusal(try nameless.trust, "foobar.com")
                == .domainMismatch(domain: "foobar.com", names: [])
        )
        #expect(policy.withoutNames.accepts(try nameless.trust, forDomain: "foobar.com"))
    }

    @Test func `case 56: a key on a verified path counts although the first path ended elsewhere`() throws {
        let policy = try web.policy(.publicKey, pins: [web.olderRoot])
        let decision = try policy.evaluate(web.trust, forDomain: "httpbin.org")
        #expect(decision.basis == .pinnedKey)
        #expect(decision.path.last == (try web.olderRoot.asCertificate))
    }

    @Test func `case 58: an issuer's name without its signature is worth nothing`() throws {
        let tree = try PrivateTree()
        let forged = try tree.root.forged(with: PrivateKey()).issue(
            .server("api.test").with { $0.authorityKeyIdentifier = .omitted }
        )
        for allowInvalid in [true, false] {
            let policy = try tree.policy(
                .publicKey,
                pins: [tree.root.certificate],
                allowInvalid: allowInvalid
            )
            #expect(
                !policy.accepts(try forged.appending([tree.root.certificate]).trust, forDomain: "api.test")
            )
        }
    }

    @Test(arguments: [true, false])
    func `case 59: a pinned certificate that is only sent along is worth nothing`(allowInvalid: Bool) throws {
        let tree = try PrivateTree()
        let evil = try Identity.selfSigned(.server("api.test"))
        let chain = try sent(evil.certificate, tree.leaf.certificate, tree.intermediate.certificate)
        for mode in [SecurityPolicy.PinningMode.publicKey, .certificate] {
            let policy = try tree.policy(mode, pins: [tree.leaf.certificate], allowInvalid: allowInvalid)
            #expect(!policy.accepts(chain, forDomain: "api.test"))
        }
    }

    @Test(arguments: [true, false])
    func `report 37: a valid chain with the pinned certificates behind it is refused`(allowInvalid: Bool)
        throws
    {
        let tree = try PrivateTree()
        let other = try Authority(commonName: "Other Public Root")
        let misissued = try other.issue(.server("api.test"))
        let chain = try misissued.appending([tree.leaf.certificate, tree.intermediate.certificate]).trust
        for mode in [SecurityPolicy.PinningMode.publicKey, .certificate] {
            for pin in [tree.leaf.certificate, tree.intermediate.certificate, tree.root.certificate] {
                var policy = try tree.policy(mode, pins: [pin], allowInvalid: allowInvalid)
                policy.trustAnchors = .certificates([try tree.root.asCertificate, try other.asCertificate])
                #expect(!policy.accepts(chain, forDomain: "api.test"))
                #expect(policy.accepts(try tree.leaf.trust, forDomain: "api.test"))
            }
        }
    }

    @Test func `report 35: a backup pin carries a server over a change of its key`() throws {
        let tree = try PrivateTree()
        let (current, backup) = (try PrivateKey(), try PrivateKey())
        let pins = try [current, backup].map { try PublicKeyPin(digest: $0.publicKeySHA256) }.compactMap {
            $0
        }
        var policy = try tree.policy(.publicKey)
        policy.pinnedPublicKeys = Set(pins)
        func accepts(_ key: PrivateKey) throws -> Bool {
            let leaf = try tree.intermediate.issue(.server("api.test").with { $0.key = .existing(key) })
            return policy.accepts(try leaf.trust, forDomain: "api.test")
        }
        #expect(try accepts(current))
        #expect(try accepts(current))
        #expect(try accepts(backup))
        #expect(try !accepts(PrivateKey()))
    }

    @Test func `the hash of an authority's key is enough on a trusted path, and not without one`() throws {
        let tree = try PrivateTree()
        var policy = try tree.policy(.publicKey)
        policy.pinnedPublicKeys = [try tree.intermediate.asCertificate.publicKeyPin]
        #expect(try policy.evaluate(try tree.leaf.trust, forDomain: "api.test").basis == .pinnedKey)
        policy.pinnedPublicKeys = [try tree.root.asCertificate.publicKeyPin]
        #expect(try policy.evaluate(try tree.leaf.trust, forDomain: "api.test").basis == .pinnedKey)
        policy.allowInvalidCertificates = true
        #expect(!policy.accepts(try tree.leaf.trust, forDomain: "api.test"))
    }

    @Test func `a certificate that somebody else made around a pinned public key is worth nothing`() throws {
        let tree = try PrivateTree()
        let evil = try Authority(commonName: "Evil Root")
        let wrapped = try evil.certify(
            try tree.intermediate.key.publicKeyDER,
            .authority(commonName: "Private Issuing")
        )
        let leaf = try evil.issue(.server("api.test"))
        let policy = try tree.policy(.publicKey, pins: [tree.intermediate.certificate], allowInvalid: true)
        #expect(
            !policy.accepts(try leaf.appending([wrapped, evil.certificate]).trust, forDomain: "api.test")
        )
    }
}
