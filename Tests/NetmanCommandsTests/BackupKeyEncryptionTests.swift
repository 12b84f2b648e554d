import ChildProcess
import FoundationEssentials
import SecurityPolicy
import Testing

@testable import NetmanCommands

@Suite struct BackupKeyEncryptionTests {
    private let passphrase = "correct horse ü"

    /// Makes a key under a passphrase, and a certificate by means of openssl.
    private func made(in folder: Workspace, type: String = "p256") async throws -> NetmanRun {
        let run = await NetmanRun(
            ["backup-key", "spare", "--type", type, "--encrypt", "-d", folder.path],
            answers: [passphrase, passphrase]
        )
        try #require(run.status == 0, "\(run.errors)")
        try ChildProcess.output(
            of: "openssl",
            [
                "x509", "-req", "-in", folder.path("spare.csr"), "-signkey", folder.path("spare.key"),
                "-passin", "pass:\(passphrase)", "-out", folder.path("spare.pem"), "-days", "1",
            ]
        )
        return run
    }

    @Test(arguments: ["p256", "rsa2048"])
    func `an encrypted key is a client identity with its passphrase, and none without`(type: String)
        async throws
    {
        let folder = try Workspace()
        let run = try await made(in: folder, type: type)
        let certificate = folder.path("spare.pem")
        let key = folder.path("spare.key")
        let identity = try ClientIdentity.load(contentsOf: certificate, key: key, password: passphrase)
        #expect(identity.certificates.first?.publicKeyPin.description == run.lines.first)
        #expect(throws: ClientIdentityError.passwordRequired) {
            try ClientIdentity.load(contentsOf: certificate, key: key)
        }
        #expect(throws: ClientIdentityError.wrongPassword) {
            try ClientIdentity.load(contentsOf: certificate, key: key, password: passphrase + "x")
        }
    }

    @Test func `openssl finds AES-256 under PBKDF2 with many rounds, and nothing of the key in the file`()
        async throws
    {
        let folder = try Workspace()
        _ = try await made(in: folder)
        let text = String(decoding: try folder.read("spare.key"), as: UTF8.self)
        #expect(text.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
        let structure = try ChildProcess.output(
            of: "openssl",
            ["asn1parse", "-in", folder.path("spare.key")]
        )
        for part in ["PBES2", "PBKDF2", "hmacWithSHA256", "aes-256-cbc", ":0927C0"] {
            #expect(structure.contains(part), "\(part)")
        }
        let plain = try ChildProcess.output(
            of: "openssl",
            ["pkey", "-in", folder.path("spare.key"), "-passin", "pass:\(passphrase)", "-outform", "pem"]
        )
        let lines = plain.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        #expect(!lines.isEmpty)
        for line in lines { #expect(!text.contains(line)) }
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("spare.key"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `the first line of a file is the passphrase, as for openssl`() async throws {
        let folder = try Workspace()
        let file = try folder.write("\(passphrase)\nsomething else\n", to: "passphrase")
        let run = await NetmanRun([
            "backup-key", "spare", "--passphrase-file", file, "-d", folder.path,
        ])
        #expect(run.status == 0)
        for source in ["pass:\(passphrase)", "file:\(file)"] {
            try ChildProcess.output(
                of: "openssl",
                ["pkey", "-in", folder.path("spare.key"), "-passin", source, "-noout"]
            )
        }
    }

    @Test(arguments: [
        ["correct horse", "correct hors"], ["short", "short"], ["", ""], ["a\tb\tc\td\te", "a\tb\tc\td\te"],
        ["only once"], [],
    ])
    func `a passphrase that differs, is short or is not given makes no file`(answers: [String]) async throws {
        let folder = try Workspace()
        let run = await NetmanRun(
            ["backup-key", "spare", "--encrypt", "-d", folder.path],
            answers: answers
        )
        #expect(run.status == 2)
        #expect(!folder.has("spare.key") && !folder.has("spare.csr"))
        for answer in answers where !answer.isEmpty { #expect(!run.errors.contains(answer)) }
    }

    @Test(arguments: ["", "\n", "seven77\n", "windows line\r\n", String(repeating: "x", count: 2000)])
    func `a file whose first line is no passphrase makes no key`(contents: String) async throws {
        let folder = try Workspace()
        let file = try folder.write(contents, to: "passphrase")
        let arguments = ["backup-key", "spare", "--passphrase-file", file, "-d", folder.path]
        #expect(await NetmanRun(arguments).status == 2)
        #expect(!folder.has("spare.key"))
    }

    @Test func `a passphrase file that is not there makes no key`() async throws {
        let folder = try Workspace()
        let run = await NetmanRun([
            "backup-key", "spare", "--passphrase-file", folder.path("none"), "-d", folder.path,
        ])
        #expect(run.status == 2)
        #expect(!folder.has("spare.key"))
    }

    @Test func `a passphrase that is no text is refused, and nothing is made`() async throws {
        let folder = try Workspace()
        try Data([0x66, 0xFF, 0xFE, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66]).write(
            to: URL(filePath: folder.path("passphrase"))
        )
        let run = await NetmanRun([
            "backup-key", "spare", "--passphrase-file", folder.path("passphrase"), "-d", folder.path,
        ])
        #expect(run.status == 2)
        #expect(run.errors.contains("no UTF-8"))
        #expect(!folder.has("spare.key"))
    }
}
