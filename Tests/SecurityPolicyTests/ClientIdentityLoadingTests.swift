import ChildProcess
import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct ClientIdentityLoadingTests {
    private let tree: ClientTree

    init() throws { tree = try ClientTree() }

    // MARK: PEM

    @Test func `PEM is read from one file or two, in any order of the blocks`() throws {
        let identity = try tree.identity
        let intermediate = Data(tree.intermediate.certificate.pem.utf8)
        let leaf = Data(tree.client.certificatePEM.utf8)
        #expect(try ClientIdentity(pem: tree.chainPEM, key: tree.keyPEM) == identity)
        #expect(try ClientIdentity(pem: tree.keyPEM + intermediate + leaf) == identity)
        #expect(try ClientIdentity(pem: intermediate, key: tree.keyPEM + leaf) == identity)
        #expect(
            try ClientIdentity(pem: leaf + leaf + tree.pem + intermediate + tree.keyPEM).certificates.first
                == identity.certificates.first
        )
    }

    @Test func `issuers are sent in order, and what is unrelated behind them`() throws {
        let stranger = try Authority(commonName: "Stranger").certificate
        let files = [stranger, tree.root.certificate, tree.intermediate.certificate, tree.client.certificate]
        let identity = try ClientIdentity(pem: Data(files.map(\.pem).joined().utf8) + tree.keyPEM)
        #expect(
            identity.certificates
                == (try [
                    tree.client.certificate, tree.intermediate.certificate, tree.root.certificate, stranger,
                ]
                .map { try $0.asCertificate })
        )
    }

    @Test func `text, requests and parameters between the blocks are passed over`() throws {
        let folder = try TemporaryFolder()
        let key = try folder.write(tree.client.privateKeyPEM, to: "key.pem")
        let request = folder.path + "/request.pem"
        try openssl("req", "-new", "-key", key, "-subj", "/CN=x", "-out", request)
        let parameters = try openssl("ecparam", "-name", "prime256v1")
        let text =
            "Bag Attributes\n  friendlyName: x\n" + tree.client.chainPEM
            + (try String(contentsOfFile: request, encoding: .utf8)) + parameters + tree.client.privateKeyPEM
        #expect(try ClientIdentity(pem: Data(text.utf8)) == tree.identity)
    }

    @Test func `an encrypted key opens with its password only`() throws {
        let key = Data(try tree.client.key.pem(password: "sesame ä").utf8)
        #expect(try ClientIdentity(pem: tree.chainPEM, key: key, password: "sesame ä") == tree.identity)
        #expect(identityError { try ClientIdentity(pem: tree.chainPEM, key: key) } == .passwordRequired)
        for wrong in ["sesame", "sesame ä ", "x"] {
            #expect(
                identityError { try ClientIdentity(pem: tree.chainPEM, key: key, password: wrong) }
                    == .wrongPassword
            )
        }
        // A password that is not needed does no harm.
        #expect(try ClientIdentity(pem: tree.pem, password: "unused") == tree.identity)
    }

    @Test(arguments: [KeyKind.rsa(2048), .p256], ["-aes256", "-des3", ""])
    func `keys in OpenSSL's older form are read`(kind: KeyKind, encryption: String) throws {
        let tree = try ClientTree(kind)
        let folder = try TemporaryFolder()
        let path = try folder.write(tree.client.privateKeyPEM, to: "key.pem")
        let old = folder.path + "/old.pem"
        var arguments = ["pkey", "-traditional", "-in", path, "-out", old]
        if !encryption.isEmpty { arguments += [encryption, "-passout", "pass:old secret"] }
        try ChildProcess.output(of: "openssl", arguments)
        let pem = try Data(contentsOf: URL(filePath: old))
        #expect(String(decoding: pem, as: UTF8.self).contains("Proc-Type") == !encryption.isEmpty)
        #expect(
            try ClientIdentity(pem: tree.chainPEM, key: pem, password: "old secret") == tree.identity
        )
        guard !encryption.isEmpty else { return }
        #expect(
            identityError { try ClientIdentity(pem: tree.chainPEM, key: pem, password: "no") }
                == .wrongPassword
        )
        #expect(identityError { try ClientIdentity(pem: tree.chainPEM, key: pem) } == .passwordRequired)
    }

    // MARK: What is wrong

    @Test func `a key that is missing, another's or one of two is told at once`() throws {
        let other = try ClientTree()
        #expect(identityError { try ClientIdentity(pem: tree.chainPEM) } == .noPrivateKey)
        #expect(identityError { try ClientIdentity(pem: tree.keyPEM) } == .noCertificate)
        #expect(
            identityError { try ClientIdentity(pem: tree.chainPEM, key: other.keyPEM) }
                == .keyDoesNotMatch(subject: "CN=client 1")
        )
        guard
            case .malformed(let reason) = identityError({ try ClientIdentity(pem: tree.pem + other.keyPEM) })
        else {
            Issue.record("two keys were accepted")
            return
        }
        #expect(reason.contains("more than one private key"))
    }

    @Test func `bytes that are no identity are told from each other`() throws {
        func reason(_ make: () throws -> ClientIdentity) -> String {
            if case .malformed(let reason) = identityError(make) { reason } else { "" }
        }
        #expect(reason { try ClientIdentity(pem: Data()) }.contains("no PEM"))
        #expect(reason { try ClientIdentity(pkcs12: Data("abc".utf8)) }.contains("neither PEM nor PKCS#12"))
        let damaged = tree.client.privateKeyPEM.replacingOccurrences(of: "-----END", with: "!!\n-----END")
        #expect(reason { try ClientIdentity(pem: tree.chainPEM + Data(damaged.utf8)) }.contains("block 3"))
        let ssh = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
        #expect(reason { try ClientIdentity(pem: tree.chainPEM, key: Data(ssh.utf8)) }.contains("SSH"))
        let noKey = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        #expect(reason { try ClientIdentity(pem: tree.chainPEM, key: Data(noKey.utf8)) }.contains("block 1"))
        let request = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"
        #expect(reason { try ClientIdentity(pem: Data(request.utf8)) }.contains("neither certificate nor"))
    }

    @Test func `no prefix and no changed byte of a file crashes`() throws {
        let file = try tree.client.pkcs12(password: "x")
        for count in stride(from: 0, to: file.count, by: 7) {
            #expect(identityError { try ClientIdentity(pkcs12: file.prefix(count), password: "x") } != nil)
        }
        for index in stride(from: 0, to: file.count, by: 13) {
            var changed = file
            changed[index] ^= 0x55
            _ = identityError { try ClientIdentity(pkcs12: changed, password: "x") }
        }
    }

    // MARK: Files

    @Test func `files are read whichever form they have`() throws {
        let folder = try TemporaryFolder()
        let files = try tree.client.writePEM(to: folder.path)
        let both = try folder.write(tree.pem, to: "both.pem")
        let bundle = try folder.write(tree.client.pkcs12(password: "x", protection: .legacy), to: "b.p12")
        #expect(try ClientIdentity.load(contentsOf: files.chain, key: files.key) == tree.identity)
        #expect(try ClientIdentity.load(contentsOf: both) == tree.identity)
        #expect(try ClientIdentity.load(contentsOf: bundle, password: "x") == tree.identity)
    }

    @Test func `what is wrong with a file is told with its path`() throws {
        let folder = try TemporaryFolder()
        let missing = folder.path + "/none.pem"
        guard case .unreadable(missing, _) = identityError({ try .load(contentsOf: missing) }) else {
            Issue.record("a missing file was read")
            return
        }
        let text = try folder.write("hello", to: "text.pem")
        guard case .malformed(let reason) = identityError({ try .load(contentsOf: text) }) else {
            Issue.record("a text was read")
            return
        }
        #expect(reason.contains(text))
    }

    @discardableResult
    private func openssl(_ arguments: String...) throws -> String {
        try ChildProcess.output(of: "openssl", arguments)
    }
}
