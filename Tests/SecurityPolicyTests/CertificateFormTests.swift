import ChildProcess
import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct CertificateFormTests {
    private let tree: PrivateTree

    init() throws { tree = try PrivateTree() }

    /// The reason of a refusal; empty if the bytes were accepted.
    private func refusal(_ data: Data) -> String {
        do {
            _ = try Certificate.certificates(in: data)
            return ""
        } catch .malformed(let reason) {
            return reason
        } catch {
            return "not malformed: \(error)"
        }
    }

    private func refusal(_ text: String) -> String { refusal(Data(text.utf8)) }

    @Test func `one DER certificate is read`() throws {
        #expect(try Certificate.certificates(in: tree.leaf.certificateDER) == [tree.leaf.leaf])
    }

    @Test func `every PEM block is read in order, whatever stands between them`() throws {
        let text = "# a comment\r\n" + tree.leaf.chainPEM + "\n\nsubject=CN = x\n" + tree.root.certificate.pem
        let expected = try [tree.leaf.leaf, tree.intermediate.asCertificate, tree.root.asCertificate]
        #expect(try Certificate.certificates(in: Data(text.utf8)) == expected)
        #expect(try Certificate.certificates(in: Data(("\u{FEFF}" + text).utf8)) == expected)
        let windows = text.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(
            of: "\n",
            with: "\r\n"
        )
        #expect(try Certificate.certificates(in: Data(windows.utf8)) == expected)
        #expect(
            try Certificate.certificates(in: Data(tree.leaf.certificatePEM.utf8.dropLast())) == [
                tree.leaf.leaf
            ]
        )
    }

    @Test func `PKCS#7 is read in both forms`() throws {
        let folder = try TemporaryFolder()
        try folder.write(tree.leaf.chainPEM, to: "chain.pem")
        for form in ["DER", "PEM"] {
            let path = "\(folder.path)/\(form).p7b"
            try ChildProcess.output(
                of: "openssl",
                [
                    "crl2pkcs7", "-nocrl", "-certfile", folder.path + "/chain.pem", "-outform",
                    form, "-out", path,
                ]
            )
            #expect(try Certificate.load(contentsOf: path) == tree.leaf.trust.certificates)
        }
    }

    @Test func `a private key is refused as such`() throws {
        let key = tree.leaf.key
        let rsa = try PrivateKey(.rsa(2048))
        let folder = try TemporaryFolder()
        try folder.write(rsa.pem, to: "rsa.pem")
        try ChildProcess.output(
            of: "openssl",
            [
                "rsa", "-traditional", "-in", folder.path + "/rsa.pem", "-outform", "DER", "-out",
                folder.path + "/old",
            ]
        )
        let encrypted = try key.pem(password: "secret")
        let lines = encrypted.split(separator: "\n").dropFirst().dropLast()
        let encryptedDER = try #require(Data(base64Encoded: lines.joined()))
        for reason in [
            refusal(key.pem), refusal(key.der), refusal(rsa.der), refusal(encrypted), refusal(encryptedDER),
            refusal(tree.leaf.certificatePEM + key.pem), refusal(key.pem + tree.leaf.certificatePEM),
            refusal(try Data(contentsOf: URL(filePath: folder.path + "/old"))),
        ] {
            #expect(reason.contains("private key"))
        }
        #expect(refusal(try tree.leaf.pkcs12(password: "secret")).contains("PKCS#12"))
    }

    @Test func `what is no certificate is named`() throws {
        #expect(refusal("").contains("no bytes"))
        #expect(refusal("hello").contains("neither DER nor PEM"))
        #expect(
            refusal("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n")
                .contains("REQUEST")
        )
        #expect(
            refusal("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n").contains("PublicKeyPin")
        )
        #expect(
            refusal("-----BEGIN TRUSTED CERTIFICATE-----\nAAAA\n-----END TRUSTED CERTIFICATE-----\n")
                .contains("openssl x509")
        )
        #expect(refusal("-----BEGIN PKCS7-----\nMAA=\n-----END PKCS7-----\n").contains("not PKCS#7"))
        #expect(refusal(tree.leaf.certificateDER + tree.root.certificate.der).contains("behind"))
        #expect(refusal(try tree.leaf.certificate.publicKeyDER).contains("no DER certificate"))
        #expect(refusal(tree.leaf.certificateDER.base64EncodedString()).contains("-----BEGIN"))
    }

    @Test func `a damaged block is an error, not a lost certificate`() throws {
        let pem = tree.leaf.certificatePEM
        let damaged = [
            pem + "-----BEGIN CERTIFICATE-----\nAAAA\n",
            pem + "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
            pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            pem + pem.replacingOccurrences(of: "END CERTIFICATE", with: "END CERTIFICAT"),
            pem + "-----BEGIN CERTIFICATE-----\n" + (tree.root.certificate.der + [0]).base64EncodedString()
                + "\n-----END CERTIFICATE-----\n",
            "-----BEGIN ",
        ]
        for text in damaged { #expect(refusal(text) != "", "\(text)") }
    }
}
