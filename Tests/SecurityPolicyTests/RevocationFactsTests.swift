import Foundation
import SecurityPolicy
import TestPKI
import Testing

/// Revocation beside the other rules, on the tree of Alamofire's tests.
///
/// Lists take the place of the operating system's service, which does not exist here.
@Suite struct RevocationFactsTests {
    private let tree: AlamofireTree
    private let host = "test.alamofire.org"
    private let year = CertificateOptions.Validity(from: date(2019, 6, 1), to: date(2020, 6, 1))

    init() throws { tree = try AlamofireTree() }

    /// A policy that asks for lists of all three authorities; `revoked` are of the second one.
    private func policy(host: Bool = true, revoking revoked: [IssuedCertificate] = []) throws
        -> SecurityPolicy
    {
        var policy = try tree.policy(host: host)
        for (authority, entries) in [(tree.root, []), (tree.ca1, []), (tree.ca2, revoked)] {
            let list = try authority.revocationList(revoking: entries, validity: year)
            policy.revocationLists.insert(try RevocationList(der: list))
        }
        return policy
    }

    @Test func `case 130: leaves that no list names pass, with names checked or not`() throws {
        #expect(try policy().accepts(tree.valid.trust, forDomain: host))
        #expect(try policy().accepts(tree.wildcard.trust, forDomain: host))
        #expect(try policy(host: false).accepts(tree.nameless.trust, forDomain: host))
        // The lists are looked at.
        let leaf = try tree.valid
        let strict = try policy(revoking: [leaf.certificate])
        guard case .revoked? = strict.refusal(try leaf.trust, host) else {
            Issue.record("not revoked")
            return
        }
    }

    @Test func `case 151: an expired leaf is refused where revocation is checked too`() throws {
        #expect(try policy().code(tree.expired.trust, host) == 10)
    }

    @Test func `case 152: a valid chain passes every one of several policies`() throws {
        let trust = try tree.valid.trust
        let policies = [try tree.policy(), try policy(), try tree.policy(host: false)]
        #expect(policies.allSatisfy { $0.accepts(trust, forDomain: host) })
        // One of them that refuses is enough to know it.
        let another = try tree.policy(.certificate, pins: [tree.ca1.certificate])
        #expect(!(policies + [another]).allSatisfy { $0.accepts(trust, forDomain: host) })
    }

    @Test func `case 154: each kind of policy is made in one expression`() throws {
        let leaf = try tree.valid.leaf
        let list = try RevocationList(der: tree.ca2.revocationList(revoking: [], validity: year))
        let revocationChecking = SecurityPolicy(revocationLists: [list])
        #expect(revocationChecking.pinningMode == .none && revocationChecking.revocationLists == [list])
        let pinned = SecurityPolicy(pinningMode: .certificate, pinnedCertificates: [leaf])
        #expect(pinned.pinnedCertificates == [leaf] && pinned.validatesDomainName)
        let keys = SecurityPolicy(pinningMode: .publicKey, pinnedPublicKeys: [leaf.publicKeyPin])
        #expect(keys.pinnedPublicKeys == [leaf.publicKeyPin] && !keys.allowInvalidCertificates)
        #expect(Set([revocationChecking, pinned, keys, .default]).count == 4)
    }
}
