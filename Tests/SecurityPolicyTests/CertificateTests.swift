import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct CertificateTests {
    @Test func `a certificate tells what is in it`() throws {
        let root = try Authority(commonName: "Root, with a comma")
        let options = CertificateOptions.server("api.test", "*.api.test", "127.0.0.1", "2001:db8::1").with {
            $0.subject = .init(commonName: "Bücher\n", organization: "Test")
            $0.serial = 0x0A1B
            $0.validity = .init(from: date(2020, 1, 2), to: date(2055, 3, 4))
        }
        let leaf = try root.issue(options).leaf
        #expect(leaf.subject == "CN=Bücher\\0A,O=Test")
        #expect(leaf.issuer == "CN=Root\\, with a comma")
        #expect(leaf.serialNumber == "0A1B")
        #expect(leaf.notBefore == date(2020, 1, 2))
        #expect(leaf.notAfter == date(2055, 3, 4))
        #expect(leaf.dnsNames == ["api.test", "*.api.test"])
        #expect(leaf.ipAddresses == ["127.0.0.1", "2001:db8::1"])
        #expect(!leaf.isSelfSigned)
        #expect(!leaf.isCertificateAuthority)
        #expect(try root.asCertificate.isSelfSigned)
        #expect(try root.asCertificate.isCertificateAuthority)
        #expect(leaf.fingerprint.count == 32)
        #expect("\(leaf)".contains("\(leaf.publicKeyPin)"))
    }

    @Test func `odd bytes in a name are shown and never taken for the name`() throws {
        let leaf = try Identity.selfSigned(.server(["api.test\0.evil.test", "a b", "ü"])).leaf
        #expect(leaf.dnsNames == ["api.test\\x00.evil.test", "a\\x20b", "\\xc3\\xbc"])
        let address = AlternativeName.raw(tag: 7, bytes: Data([1, 2, 3]))
        #expect(try Identity.selfSigned(.server([address])).leaf.ipAddresses == [])
    }

    @Test func `a certificate with its own name but another's signature is not self-signed`() throws {
        let root = try Authority(commonName: "Root")
        let forged = try root.forged(with: PrivateKey()).certify(
            root.key.publicKeyDER,
            .authority(commonName: "Root")
        )
        #expect(try !forged.asCertificate.isSelfSigned)
    }

    @Test func `certificates are equal when their bytes are`() throws {
        let tree = try PrivateTree()
        let again = try Certificate(der: tree.leaf.certificateDER)
        #expect(try tree.leaf.leaf == again)
        #expect(Set([try tree.leaf.leaf, again]).count == 1)
        #expect(try tree.root.asCertificate != again)
    }

    @Test func `exactly one DER certificate is accepted`() throws {
        let der = try PrivateTree().leaf.certificateDER
        #expect(try Certificate(der: der).der == der)
        #expect(try Certificate(der: (Data([0]) + der).dropFirst()).der == der)
        for bytes in [Data(), der + [0], der + der, der.dropLast(), der.dropFirst(), Data("hello".utf8)] {
            #expect(throws: CertificateError.self) { try Certificate(der: bytes) }
        }
    }

    @Test func `a damaged certificate is refused or read, never a crash`() throws {
        let der = try PrivateTree().leaf.certificateDER
        for position in 0..<der.count {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var bytes = der
                bytes[position] ^= change
                guard let certificate = try? Certificate(der: bytes) else { continue }
                _ = certificate.description + certificate.issuer + certificate.serialNumber
                _ = (certificate.dnsNames, certificate.ipAddresses, certificate.isSelfSigned)
                let policy = SecurityPolicy(
                    pinningMode: .certificate,
                    pinnedCertificates: [certificate],
                    allowInvalidCertificates: true,
                    trustAnchors: .certificates([])
                )
                _ = policy.accepts(ServerTrust(certificates: [certificate]), forDomain: "api.test")
            }
            #expect(throws: CertificateError.self) { try Certificate(der: der.prefix(position)) }
        }
    }
}
