import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct StrictnessTests {
    private let tree: PrivateTree
    private let named = CertificateOptions.server("api.test").with { $0.subject.commonName = "api.test" }

    init() throws { tree = try PrivateTree() }

    private func refusal(_ identity: Identity, _ strictness: SecurityPolicy.Strictness) throws -> String? {
        var policy = try tree.policy()
        policy.strictness = strictness
        return try policy.refusal(identity.trust, "api.test")?.description
    }

    private func expectNil(_ refusal: String?) { #expect(refusal == nil) }

    @Test func `a well-formed chain passes both`() throws {
        expectNil(try refusal(tree.leaf, .standard))
        expectNil(try refusal(tree.leaf, .webPKI))
        expectNil(try refusal(tree.intermediate.issue(named), .webPKI))
    }

    @Test func `each rule of public authorities is asked for by webPKI only`() throws {
        let changes: [(word: String, change: (inout CertificateOptions) -> Void)] = [
            ("common name", { $0.subject.commonName = "www.api.test" }),
            ("serial number", { $0.serial = 0 }),
            ("serverAuth", { $0.extendedKeyUsage = [] }),
            ("any purpose", { $0.extendedKeyUsage = ["serverAuth", "anyExtendedKeyUsage"] }),
            ("purposes are critical", { $0.extendedKeyUsage = ["critical", "serverAuth"] }),
            (
                "authority",
                {
                    $0.basicConstraints = .authority(pathLength: nil)
                    $0.keyUsage = ["digitalSignature"]
                }
            ),
            ("host name", { $0.names.append(.dns("a_b.api.test")) }),
            ("Authority Key Identifier", { $0.authorityKeyIdentifier = .omitted }),
            ("malformed", { $0.extensions = [("authorityInfoAccess", "DER:0500")] }),
        ]
        for (word, change) in changes {
            let identity = try tree.intermediate.issue(named.with(change))
            expectNil(try refusal(identity, .standard))
            let strict = try refusal(identity, .webPKI) ?? "accepted"
            #expect(strict.contains(word), "\(strict)")
        }
    }

    @Test func `each rule for authorities is asked for by webPKI only`() throws {
        let changes: [(word: String, change: (inout CertificateOptions) -> Void)] = [
            ("constraints name .test", { $0.nameConstraints = ["permitted;DNS:.test"] }),
            ("policy constraints", { $0.extensions = [("policyConstraints", "requireExplicitPolicy:9")] }),
        ]
        for (word, change) in changes {
            let authority = try tree.root.intermediate(.authority(commonName: "Other").with(change))
            let identity = try authority.issue(named)
            expectNil(try refusal(identity, .standard))
            let strict = try refusal(identity, .webPKI) ?? "accepted"
            #expect(strict.contains(word), "\(strict)")
        }
    }

    @Test func `the number of intermediates can be limited`() throws {
        var policy = try tree.policy()
        policy.maximumIntermediates = 1
        let trust = try tree.leaf.trust
        #expect(policy.accepts(trust, forDomain: "api.test"))
        policy.maximumIntermediates = 0
        #expect(policy.code(trust, "api.test") == 22)
        #expect(policy.accepts(try tree.root.issue(named).trust, forDomain: "api.test"))
        policy.maximumIntermediates = -1
        #expect(!policy.accepts(try tree.root.issue(named).trust, forDomain: "api.test"))
    }
}
