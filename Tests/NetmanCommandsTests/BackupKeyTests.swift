import ChildProcess
import FoundationEssentials
import SecurityPolicy
import TestPKI
import Testing

@testable import NetmanCommands

@Suite struct BackupKeyTests {
    @Test(arguments: ["p256", "p384", "rsa2048"])
    func `the pin is the one of the key and of the certificate that the request leads to`(type: String)
        async throws
    {
        let folder = try Workspace()
        let run = await NetmanRun(["backup-key", "spare.example.com", "--type", type, "-d", folder.path])
        #expect(run.status == 0)
        let pin = try #require(run.lines.first)
        #expect(try folder.read("spare.example.com.pin") == Data((pin + "\n").utf8))
        let base = folder.path("spare.example.com")
        let ofKey = try ChildProcess.output(
            of: "sh",
            [
                "-c",
                """
                openssl pkey -in "$0.key" -pubout -outform der | openssl dgst -sha256 -binary | openssl enc -base64
                """,
                base,
            ]
        )
        #expect("sha256/" + ofKey.split(separator: "\n").joined() == pin)
        try ChildProcess.output(
            of: "openssl",
            [
                "x509", "-req", "-in", base + ".csr", "-signkey", base + ".key", "-out", base + ".pem",
                "-days", "1",
            ]
        )
        #expect(try Certificate.load(contentsOf: base + ".pem").first?.publicKeyPin.description == pin)
    }

    @Test func `openssl verifies the request, which carries the names`() async throws {
        let folder = try Workspace()
        let arguments = [
            "backup-key", "spare", "--host", "a.example", "--host", "192.0.2.1", "-d", folder.path + "/",
        ]
        #expect(await NetmanRun(arguments).status == 0)
        let text = try ChildProcess.output(
            of: "openssl",
            ["req", "-in", folder.path("spare.csr"), "-verify", "-noout", "-text"]
        )
        #expect(text.contains("verify OK"))
        #expect(text.contains("DNS:a.example, IP Address:192.0.2.1"))
    }

    @Test func `a long name is cut for the request, whatever its letters are made of`() async throws {
        let folder = try Workspace()
        // 40 letters of two scalars each.
        let name = String(repeating: "e\u{301}", count: 40)
        #expect(await NetmanRun(["backup-key", name, "-d", folder.path]).status == 0)
        let text = try ChildProcess.output(
            of: "openssl",
            ["req", "-in", folder.path(name + ".csr"), "-noout", "-subject", "-nameopt", "utf8"]
        )
        #expect(text.unicodeScalars.count { $0 == "\u{301}" } == 32)
    }

    @Test func `nobody but the owner may read the key`() async throws {
        let folder = try Workspace()
        _ = await NetmanRun(["backup-key", "spare", "-d", folder.path])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("spare.key"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a key that is there is never replaced`() async throws {
        let folder = try Workspace()
        _ = await NetmanRun(["backup-key", "spare", "-d", folder.path])
        let key = try folder.read("spare.key")
        #expect(await NetmanRun(["backup-key", "spare", "-d", folder.path]).status == 2)
        #expect(try folder.read("spare.key") == key)
    }

    @Test(arguments: ["../x", "a/b", "", ".x"])
    func `a name leads out of no folder`(name: String) async throws {
        #expect(await NetmanRun(["backup-key", name]).status == 2)
    }

    @Test func `a name cannot bring further fields into the request`() async throws {
        let folder = try Workspace()
        let run = await NetmanRun([
            "backup-key", "spare", "--host", "a.example,DNS:evil.example", "-d", folder.path,
        ])
        #expect(run.status == 2)
        #expect(!folder.has("spare.key"))
    }
}
