import ChildProcess
import FoundationEssentials
import SecurityPolicy
import TestPKI
import Testing

@testable import NetmanCommands

@Suite struct ConvertTests {
    @Test(arguments: ["crt", "pem", "cer", "der", "p7b"], ["crt", "pem", "cer", "der", "p7b"])
    func `every form becomes every other without a change to the certificate`(from: String, to: String)
        async throws
    {
        let folder = try Workspace()
        let identity = try PinsTests.tree().leaf
        let pem = try folder.write(identity.certificatePEM, to: "original.pem")
        #expect(await NetmanRun(["convert", pem, folder.path("in.\(from)")]).status == 0)
        let run = await NetmanRun(["convert", folder.path("in.\(from)"), folder.path("out.\(to)")])
        #expect(run.status == 0)
        #expect(
            try Certificate.load(contentsOf: folder.path("out.\(to)")).map(\.der) == [identity.certificateDER]
        )
    }

    @Test func `DER is what openssl writes`() async throws {
        let folder = try Workspace()
        let pem = try folder.write(try PinsTests.tree().leaf.certificatePEM, to: "a.crt")
        try ChildProcess.output(
            of: "openssl",
            ["x509", "-in", pem, "-outform", "der", "-out", folder.path("b.cer")]
        )
        #expect(await NetmanRun(["convert", pem, folder.path("c.cer")]).status == 0)
        #expect(try folder.read("b.cer") == folder.read("c.cer"))
    }

    @Test func `openssl reads the PKCS#7, in its order`() async throws {
        let folder = try Workspace()
        let identity = try PinsTests.tree().leaf
        let chain = try folder.write(identity.chainPEM, to: "chain.pem")
        #expect(await NetmanRun(["convert", chain, folder.path("chain.p7b")]).status == 0)
        let text = try ChildProcess.output(
            of: "openssl",
            ["pkcs7", "-inform", "der", "-in", folder.path("chain.p7b"), "-print_certs"]
        )
        let read = try Certificate.certificates(in: Data(text.utf8)).map(\.der)
        #expect(Set(read) == Set(identity.chainDER))
        #expect(
            try Set(Certificate.load(contentsOf: folder.path("chain.p7b")).map(\.der))
                == Set(identity.chainDER)
        )
    }

    @Test func `a chain does not become DER silently short`() async throws {
        let folder = try Workspace()
        let identity = try PinsTests.tree().leaf
        let chain = try folder.write(identity.chainPEM, to: "chain.pem")
        let run = await NetmanRun(["convert", chain, folder.path("one.cer")])
        #expect(run.status == 2)
        #expect(run.errors.contains("--index"))
        #expect(!folder.has("one.cer"))
        #expect(await NetmanRun(["convert", chain, folder.path("one.cer"), "--index", "1"]).status == 0)
        #expect(try folder.read("one.cer") == identity.chainDER[1])
    }

    @Test func `private keys are refused, alone and beside a certificate`() async throws {
        let folder = try Workspace()
        let identity = try PinsTests.tree().leaf
        for text in [identity.privateKeyPEM, identity.certificatePEM + identity.privateKeyPEM] {
            let file = try folder.write(text, to: "in.pem")
            let run = await NetmanRun(["convert", file, folder.path("out.pem")])
            #expect(run.status == 2)
            #expect(run.errors.contains("private key"))
            #expect(!folder.has("out.pem"))
        }
    }

    @Test func `a file that is there stays, unless --force says otherwise`() async throws {
        let folder = try Workspace()
        let pem = try folder.write(try PinsTests.tree().leaf.certificatePEM, to: "a.pem")
        try folder.write("precious", to: "out.cer")
        let run = await NetmanRun(["convert", pem, folder.path("out.cer")])
        #expect(run.status == 2)
        #expect(try folder.read("out.cer") == Data("precious".utf8))
        #expect(await NetmanRun(["convert", pem, folder.path("out.cer"), "--force"]).status == 0)
        #expect(try folder.read("out.cer") != Data("precious".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names) == ["a.pem", "out.cer"], "no temporary file is left")
    }

    @Test func `a name that says no form asks for one`() async throws {
        let folder = try Workspace()
        let pem = try folder.write(try PinsTests.tree().leaf.certificatePEM, to: "a.pem")
        #expect(await NetmanRun(["convert", pem, folder.path("out")]).errors.contains("--to"))
        #expect(await NetmanRun(["convert", pem, folder.path("out"), "--to", "der"]).status == 0)
    }

    @Test func `a place where no certificate is asks for one that is there`() async throws {
        let folder = try Workspace()
        let chain = try folder.write(try PinsTests.tree().leaf.chainPEM, to: "chain.pem")
        for index in ["2", "-1", "x"] {
            let run = await NetmanRun(["convert", chain, folder.path("out.cer"), "--index", index])
            #expect(run.status == 2)
            #expect(run.errors.contains("from 0 to 1"))
        }
        #expect(!folder.has("out.cer"))
    }

    @Test func `a file that cannot be made is named, with the system's reason`() async throws {
        let folder = try Workspace()
        let pem = try folder.write(try PinsTests.tree().leaf.certificatePEM, to: "a.pem")
        let out = folder.path("none/out.cer")
        let run = await NetmanRun(["convert", pem, out])
        #expect(run.status == 2)
        #expect(run.errors.contains("\(out) cannot be made: No such file or directory"))
        // A folder is not replaced by a file.
        try FileManager.default.createDirectory(
            atPath: folder.path("full.cer/x"),
            withIntermediateDirectories: true
        )
        let other = await NetmanRun(["convert", pem, folder.path("full.cer"), "--force"])
        #expect(other.status == 2)
        #expect(other.errors.contains("cannot be replaced"))
        #expect(folder.has("full.cer/x"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names) == ["a.pem", "full.cer"], "no temporary file is left")
    }
}
