import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct PinEnforcementTests {
    private let tree: PrivateTree
    private let foreign: IssuedCertificate

    init() throws {
        tree = try PrivateTree()
        foreign = try PrivateTree().leaf.certificate
    }

    @Test(arguments: [SecurityPolicy.PinningMode.certificate, .publicKey], [true, false])
    func `an audited pin lets a trusted server through and tells why it would not`(
        mode: SecurityPolicy.PinningMode,
        allowInvalid: Bool
    ) throws {
        var policy = try tree.policy(mode, pins: [foreign], allowInvalid: allowInvalid)
        #expect(!policy.accepts(try tree.leaf.trust, forDomain: "api.test"))
        policy.pinEnforcement = .audit
        let decision = try policy.evaluate(tree.leaf.trust, forDomain: "api.test")
        #expect(decision.basis == .systemTrust)
        guard case .pinMismatch = decision.auditedError else {
            Issue.record("no audited error")
            return
        }
    }

    @Test func `an audited pin that matches is no different`() throws {
        var policy = try tree.policy(.certificate, pins: [tree.intermediate.certificate])
        policy.pinEnforcement = .audit
        let decision = try policy.evaluate(tree.leaf.trust, forDomain: "api.test")
        #expect(decision.basis == .pinnedCertificate)
        #expect(decision.auditedError == nil)
    }

    @Test func `an audit lets nobody through whom the anchors or the name refuse`() throws {
        var policy = try tree.policy(.certificate, pins: [foreign], allowInvalid: true)
        policy.pinEnforcement = .audit
        let stranger = try Identity.selfSigned(.server("api.test")).trust
        guard case .pinMismatch = policy.refusal(stranger, "api.test") else {
            Issue.record("not a pin mismatch")
            return
        }
        guard case .domainMismatch = policy.refusal(try tree.leaf.trust, "other.test") else {
            Issue.record("not a name mismatch")
            return
        }
        policy.pinnedCertificates = []
        #expect(policy.refusal(try tree.leaf.trust, "api.test") == .noPinsConfigured)
    }

    @Test func `pins that are past their date leave the decision to the anchors`() throws {
        var policy = try tree.policy(.certificate, pins: [foreign], allowInvalid: true)
        policy.pinExpiration = .now.addingTimeInterval(3_600)
        #expect(!policy.accepts(try tree.leaf.trust, forDomain: "api.test"))
        policy.pinExpiration = .now.addingTimeInterval(-1)
        #expect(try policy.evaluate(tree.leaf.trust, forDomain: "api.test").basis == .systemTrust)
        let stranger = try Identity.selfSigned(.server("api.test")).trust
        #expect(policy.code(stranger, "api.test") == 18)
        policy.pinnedCertificates = []
        #expect(policy.refusal(try tree.leaf.trust, "api.test") == .noPinsConfigured)
    }

    @Test func `a server that the anchors refuse too is reported as refused, audit or not`() throws {
        var policy = try tree.policy(.certificate, pins: [foreign], allowInvalid: true)
        policy.pinEnforcement = .audit
        let stranger = try Identity.selfSigned(.server("api.test")).trust
        let error = try #require(policy.refusal(stranger, "api.test"))
        #expect(!TrustReport(error, from: stranger, host: "api.test", policy: policy).isAudit)
    }

    @Test func `a report describes the refusal and survives encoding`() throws {
        var policy = try tree.policy(.certificate, pins: [foreign])
        policy.pinEnforcement = .audit
        let trust = try tree.leaf.trust
        let error = try #require(try policy.evaluate(trust, forDomain: "api.test").auditedError)
        let report = TrustReport(
            error,
            from: trust,
            host: "api.test",
            port: 8443,
            policy: policy,
            date: Date(timeIntervalSince1970: 0)
        )
        #expect(report.isAudit)
        #expect(report.reason == error.description)
        #expect(report.presentedPins == trust.certificates.map(\.publicKeyPin))
        #expect(report.expectedPins == [try foreign.asCertificate.publicKeyPin])
        #expect(
            try report.sentChain.flatMap { try Certificate.certificates(in: Data($0.utf8)) }
                == trust.certificates
        )
        #expect(report.sentChain.first == tree.leaf.certificatePEM)
        #expect(try JSONDecoder().decode(TrustReport.self, from: JSONEncoder().encode(report)) == report)
    }
}
