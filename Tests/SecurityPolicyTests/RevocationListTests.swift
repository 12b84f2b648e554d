import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct RevocationListTests {
    private let tree: PrivateTree
    private let revoked: Identity

    init() throws {
        tree = try PrivateTree()
        revoked = try tree.intermediate.issue(.server("api.test"))
    }

    private func lists(_ lists: Data...) throws -> Set<RevocationList> {
        Set(try lists.map { try RevocationList(der: $0) })
    }

    private func policy(_ lists: Data...) throws -> SecurityPolicy {
        var policy = try tree.policy()
        policy.revocationLists = Set(try lists.map { try RevocationList(der: $0) })
        return policy
    }

    @Test func `a revoked certificate is refused, another one of the same authority passes`() throws {
        let policy = try policy(
            tree.intermediate.revocationList(revoking: [revoked.certificate]),
            tree.root.revocationList(revoking: [])
        )
        #expect(policy.accepts(try tree.leaf.trust, forDomain: "api.test"))
        guard case .revoked(let reason) = policy.refusal(try revoked.trust, "api.test") else {
            Issue.record("not revoked")
            return
        }
        #expect(reason.contains("revoked"))
        #expect(try tree.policy().accepts(revoked.trust, forDomain: "api.test"))
    }

    @Test func `a revoked authority is refused`() throws {
        let policy = try policy(
            tree.intermediate.revocationList(revoking: []),
            tree.root.revocationList(revoking: [tree.intermediate.certificate])
        )
        guard case .revoked = policy.refusal(try tree.leaf.trust, "api.test") else {
            Issue.record("not revoked")
            return
        }
    }

    @Test func `a missing list is error 3, an expired one 12, a forged one is not believed`() throws {
        let own = try tree.intermediate.revocationList(revoking: [])
        let root = try tree.root.revocationList(revoking: [])
        let trust = try tree.leaf.trust
        #expect(try policy(own, root).code(trust, "api.test") == 0)
        #expect(try policy(own).code(trust, "api.test") == 3)
        #expect(try policy(root).code(trust, "api.test") == 3)
        let expired = try tree.intermediate.revocationList(revoking: [], validity: .expired)
        #expect(try policy(expired, root).code(trust, "api.test") == 12)
        let forged = try tree.intermediate.forged(with: PrivateKey()).revocationList(revoking: [])
        #expect(try policy(forged, root).code(trust, "api.test") == 8)
    }

    @Test func `a path to a pin needs the list of the server's own issuer`() throws {
        let list = try tree.intermediate.revocationList(revoking: [revoked.certificate])
        for pin in [tree.intermediate.certificate, tree.root.certificate] {
            var policy = try tree.policy(.certificate, pins: [pin], allowInvalid: true)
            policy.revocationLists = try lists(list)
            #expect(policy.accepts(try tree.leaf.trust, forDomain: "api.test"))
            guard case .revoked = policy.refusal(try revoked.trust, "api.test") else {
                Issue.record("not revoked")
                return
            }
            policy.revocationLists = try lists(tree.root.revocationList(revoking: []))
            #expect(!policy.accepts(try tree.leaf.trust, forDomain: "api.test"))
        }
    }

    @Test func `lists are read from DER, PEM and files, and nothing else is one`() throws {
        let der = try tree.root.revocationList(revoking: [])
        let pem = try tree.root.revocationListPEM(revoking: [revoked.certificate])
        let both = try RevocationList.lists(in: Data((pem + pem).utf8))
        #expect(both.count == 2)
        #expect(both.first?.issuer == "CN=Private Root")
        #expect((both.first?.nextUpdate ?? .distantPast) > .now)
        let folder = try TemporaryFolder()
        #expect(
            try RevocationList.load(contentsOf: folder.write(der, to: "root.crl")) == [
                RevocationList(der: der)
            ]
        )
        for bytes in [
            Data(), der + [0], tree.leaf.certificateDER, Data(tree.leaf.certificatePEM.utf8), Data("x".utf8),
        ] {
            #expect(throws: CertificateError.self) { try RevocationList.lists(in: bytes) }
        }
        #expect(throws: CertificateError.self) { try RevocationList.load(contentsOf: folder.path + "/none") }
        let broken = try folder.write("hello", to: "broken.crl")
        let error = #expect(throws: CertificateError.self) {
            try RevocationList.load(contentsOf: broken)
        }
        #expect(error?.description.contains(broken) == true)
    }

    @Test func `a policy with lists survives encoding and has its own identity`() throws {
        let policy = try policy(tree.root.revocationList(revoking: []))
        let copy = try JSONDecoder().decode(SecurityPolicy.self, from: JSONEncoder().encode(policy))
        #expect(copy == policy)
        #expect(copy.policyID == policy.policyID)
        #expect(try policy.policyID != tree.policy().policyID)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                SecurityPolicy.self,
                from: Data(#"{"pinningMode": 0, "revocationLists": ["AAAA"]}"#.utf8)
            )
        }
    }
}
