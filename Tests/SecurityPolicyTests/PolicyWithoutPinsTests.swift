import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct PolicyWithoutPinsTests {
    let web: WebTree
    let policy: SecurityPolicy

    init() throws {
        web = try WebTree()
        policy = try web.policy
    }

    @Test
    func `case 16: a valid chain passes without a name if names are not checked, and is refused if they are`()
    {
        #expect(policy.withoutNames.accepts(web.trust, forDomain: nil))
        #expect(policy.refusal(web.trust, nil) == .domainRequired)
    }

    @Test func `case 17: a valid chain passes for its name`() throws {
        let decision = try policy.evaluate(web.trust, forDomain: "httpbin.org")
        #expect(decision.basis == .systemTrust)
        #expect(decision.matchedPin == nil)
        #expect(
            decision.path
                == [try web.leaf.leaf, try web.serverCA.asCertificate, try web.systemRoot.asCertificate]
        )
    }

    @Test func `case 19: a valid chain is refused for another name`() {
        #expect(
            policy.refusal(web.trust, "invalid.org")
                == .domainMismatch(domain: "invalid.org", names: ["httpbin.org", "*.httpbin.org"])
        )
    }

    @Test func `case 20: another name passes if names are not checked`() {
        #expect(policy.withoutNames.accepts(web.trust, forDomain: "invalid.org"))
    }

    @Test func `case 22: a self-signed certificate is refused`() throws {
        #expect(policy.withoutNames.code(try SelfSigned.withAlternativeName.trust, nil) == 18)
        #expect(policy.code(try SelfSigned.withAlternativeName.trust, "foobar.com") == 18)
    }

    @Test func `case 23: everything passes if invalid certificates are allowed and names are not checked`()
        throws
    {
        var lax = policy.withoutNames
        lax.allowInvalidCertificates = true
        let decision = try lax.evaluate(try SelfSigned.withAlternativeName.trust, forDomain: nil)
        #expect(decision.basis == .everythingAllowed)
        lax.validatesDomainName = true
        let trust = try SelfSigned.withAlternativeName.trust
        #expect(lax.refusal(trust, nil) == .domainValidationNeedsPinsOrTrust)
    }

    @Test(arguments: [true, false])
    func `cases 25 and 26: names are not checked without pins or trust`(hasPins: Bool) throws {
        let foobar = try SelfSigned.withAlternativeName
        let lax = SecurityPolicy(
            pinnedCertificates: hasPins ? [try foobar.leaf] : [],
            allowInvalidCertificates: true,
            verificationDate: WebTree.clock
        )
        #expect(lax.refusal(try foobar.trust, "foobar.com") == .domainValidationNeedsPinsOrTrust)
        #expect(throws: TrustError.domainValidationNeedsPinsOrTrust) { try lax.checkConfiguration() }
    }

    @Test func `case 28: a wildcard covers one label`() {
        #expect(policy.accepts(web.trust, forDomain: "sub.httpbin.org"))
    }

    @Test func `case 29: a wildcard does not cover two labels`() {
        #expect(!policy.accepts(web.trust, forDomain: "a.b.httpbin.org"))
    }

    @Test func `case 31: a certificate that is not yet valid is refused with error 9`() {
        var early = policy
        early.verificationDate = date(2019, 12, 31)
        #expect(early.code(web.trust, "httpbin.org") == 9)
    }

    @Test func `case 32: the case of a name does not matter`() {
        #expect(policy.accepts(web.trust, forDomain: "HTTPBIN.ORG"))
    }

    @Test func `case 34: a missing intermediate is error 20`() throws {
        #expect(policy.code(try sent(web.leaf.certificate), "httpbin.org") == 20)
    }

    @Test func `case 35: the root need not be sent`() throws {
        #expect(policy.accepts(try sent(web.leaf.certificate, web.serverCA), forDomain: "httpbin.org"))
    }

    @Test func `case 37: an address in the common name does not count`() throws {
        let tree = try PrivateTree()
        let leaf = try tree.intermediate.issue(
            CertificateOptions.server().with { $0.subject.commonName = "127.0.0.1" }
        )
        let refusal = try tree.policy().refusal(try leaf.trust, "127.0.0.1")
        #expect(refusal == .domainMismatch(domain: "127.0.0.1", names: []))
    }

    @Test func `an expired certificate is error 10, and valid until the second before its end`() {
        var late = policy
        late.verificationDate = date(2021, 2, 18)
        #expect(late.code(web.trust, "httpbin.org") == 10)
        late.verificationDate = date(2021, 2, 18).addingTimeInterval(-1)
        #expect(late.code(web.trust, "httpbin.org") == 0)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300])
    func `a verification date that no clock shows makes nothing valid`(seconds: Double) {
        var odd = policy
        odd.verificationDate = Date(timeIntervalSince1970: seconds)
        #expect(!odd.accepts(web.trust, forDomain: "httpbin.org"))
    }
}
