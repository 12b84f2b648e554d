import ChildProcess
import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct ClientIdentityPKCS12Tests {
    private let tree: ClientTree

    init() throws { tree = try ClientTree() }

    @Test(arguments: [Identity.PKCS12Protection.modern, .tripleDES, .legacy])
    func `PKCS#12 is read with its password only`(protection: Identity.PKCS12Protection) throws {
        let file = try tree.client.pkcs12(password: "pässword", protection: protection)
        #expect(try ClientIdentity(pkcs12: file, password: "pässword") == tree.identity)
        #expect(identityError { try ClientIdentity(pkcs12: file, password: "password") } == .wrongPassword)
        #expect(
            identityError { try ClientIdentity(pkcs12: file, password: "pässword\0") } == .wrongPassword
        )
        #expect(identityError { try ClientIdentity(pkcs12: file) } == .passwordRequired)
        #expect(identityError { try ClientIdentity(pkcs12: file, password: "") } == .passwordRequired)
    }

    @Test(arguments: [nil, ""], [Identity.PKCS12Protection.modern, .legacy])
    func `an empty password opens files that were made without one`(
        made: String?,
        protection: Identity.PKCS12Protection
    ) throws {
        let file = try tree.client.pkcs12(password: made, protection: protection)
        #expect(try ClientIdentity(pkcs12: file) == tree.identity)
        #expect(try ClientIdentity(pkcs12: file, password: "") == tree.identity)
        #expect(identityError { try ClientIdentity(pkcs12: file, password: "x") } == .wrongPassword)
    }

    @Test func `reading an old file leaves the process's own algorithms as they are`() throws {
        #expect(!DefaultAlgorithms.offerCipher("RC2-40-CBC"))
        #expect(DefaultAlgorithms.offerCipher("AES-256-CBC"))
        let file = try tree.client.pkcs12(password: "x", protection: .legacy)
        let identity = try ClientIdentity(pkcs12: file, password: "x")
        #expect(identity == (try tree.identity))
        for cipher in ["RC2-40-CBC", "RC4", "DES-CBC"] { #expect(!DefaultAlgorithms.offerCipher(cipher)) }
    }

    @Test func `the certificates of a bundle are put in order behind the key's own`() throws {
        let shuffled = tree.client.sending([tree.root.certificate, tree.intermediate.certificate])
        let identity = try ClientIdentity(pkcs12: shuffled.pkcs12(password: "x"), password: "x")
        #expect(identity.certificates == (try tree.chain + [tree.root.asCertificate]))
    }

    @Test func `a bundle without a key is told`() throws {
        let folder = try TemporaryFolder()
        let files = try tree.client.writePEM(to: folder.path)
        let path = folder.path + "/certificates.p12"
        try ChildProcess.output(
            of: "openssl",
            [
                "pkcs12", "-export", "-nokeys", "-in", files.chain, "-passout", "pass:x", "-out",
                path,
            ]
        )
        #expect(identityError { try .load(contentsOf: path, password: "x") } == .noPrivateKey)
    }

    @Test func `many files can be read at a time`() async throws {
        let file = try tree.client.pkcs12(password: "x", protection: .legacy)
        let expected = try tree.identity
        let identities = try await withThrowingTaskGroup(of: ClientIdentity.self) { group in
            for _ in 0..<32 { group.addTask { try ClientIdentity(pkcs12: file, password: "x") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(identities.count == 32)
        #expect(identities.allSatisfy { $0 == expected })
    }
}
