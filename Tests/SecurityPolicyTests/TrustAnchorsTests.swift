import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct TrustAnchorsTests {
    private let tree: PrivateTree
    private let folder: TemporaryFolder

    init() throws {
        tree = try PrivateTree()
        folder = try TemporaryFolder()
    }

    @Test func `SSL_CERT_FILE names the only anchors`() throws {
        let path = try folder.write(tree.root.certificate.pem, to: "roots.pem")
        let anchors = SystemAnchors(environment: ["SSL_CERT_FILE": path])
        #expect(anchors.certificates == [try tree.root.asCertificate])
        #expect(anchors.sources == [path])
    }

    @Test func `SSL_CERT_DIR names the only anchors, each once`() throws {
        let other = try TemporaryFolder()
        try folder.write(tree.root.certificate.pem, to: "roots.pem")
        try folder.write(tree.root.certificate.pem, to: "1234abcd.0")
        try other.write(tree.intermediate.certificate.der, to: "other")
        let anchors = SystemAnchors(environment: [
            "SSL_CERT_DIR": "\(folder.path):\(other.path)", "SSL_CERT_FILE": "",
        ])
        #expect(anchors.certificates == [try tree.root.asCertificate, try tree.intermediate.asCertificate])
    }

    @Test func `a broken entry of a bundle is passed over, the rest is trusted`() throws {
        let bundle =
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + tree.root.certificate.pem
        let path = try folder.write(bundle, to: "roots.pem")
        let anchors = SystemAnchors(environment: ["SSL_CERT_FILE": path])
        #expect(anchors.certificates == [try tree.root.asCertificate])
    }

    @Test func `a missing list trusts nobody`() {
        #expect(SystemAnchors(environment: ["SSL_CERT_FILE": folder.path + "/none"]).certificates == [])
        #expect(SystemAnchors(environment: ["SSL_CERT_DIR": folder.path + "/none"]).certificates == [])
    }

    @Test func `the anchors of a policy decide`() throws {
        let trust = try tree.leaf.trust
        #expect(SecurityPolicy.default.code(trust, "api.test") == 20)
        #expect(SecurityPolicy(trustAnchors: .certificates([])).code(trust, "api.test") == 20)
        let root = try tree.root.asCertificate
        #expect(SecurityPolicy(trustAnchors: .certificates([root])).accepts(trust, forDomain: "api.test"))
        let both = TrustAnchors.systemAnd([root])
        both.preload()
        #expect(SecurityPolicy(trustAnchors: both).accepts(trust, forDomain: "api.test"))
    }

    @Test func `an intermediate certificate is no anchor`() throws {
        let policy = SecurityPolicy(trustAnchors: .certificates([try tree.intermediate.asCertificate]))
        #expect(!policy.accepts(try tree.leaf.trust, forDomain: "api.test"))
    }

    @Test func `anchors are compared by what they are`() throws {
        let root = try tree.root.asCertificate
        #expect(TrustAnchors.certificates([root]) == .certificates([root]))
        #expect(TrustAnchors.certificates([root]) != .systemAnd([root]))
        #expect(TrustAnchors.systemAnd([]) == .system)
        #expect(TrustAnchors.certificates([]) != .system)
    }

    @Test func `without variables the machine's own list is read, the first there is`() throws {
        let anchors = SystemAnchors(environment: [:])
        #expect(anchors.sources.first == "/etc/ssl/certs/ca-certificates.crt")
        // Where the last one that was tried had none, there is none on this machine.
        let last = try #require(anchors.sources.last)
        let variable = last.hasSuffix("/certs") ? "SSL_CERT_DIR" : "SSL_CERT_FILE"
        #expect(anchors.certificates == SystemAnchors(environment: [variable: last]).certificates)
        for passed in anchors.sources.dropLast() {
            #expect(SystemAnchors(environment: ["SSL_CERT_FILE": passed]).certificates.isEmpty)
        }
    }
}
