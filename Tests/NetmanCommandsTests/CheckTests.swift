import FoundationEssentials
import SecurityPolicy
import Serializers
import TestPKI
import TestServer
import Testing

@testable import NetmanCommands

@Suite struct CheckTests {
    private let folder: Workspace
    private let root: Authority
    private let leaf: Identity
    private let server: TestServer

    init() throws {
        folder = try Workspace()
        (root, leaf) = try PinsTests.tree()
        server = try TestServer(tls: TLSOptions(identity: leaf)) { _ in .text("x", status: 404) }
    }

    private static func pin(_ certificate: IssuedCertificate) throws -> String {
        "sha256/" + (try certificate.publicKeySHA256).base64EncodedString()
    }

    /// Checks the server under a policy that pins these keys.
    private func check(_ pins: [String], fields: String = "", _ arguments: String...) async throws
        -> NetmanRun
    {
        let list = pins.map { "\"\($0)\"" }.joined(separator: ",")
        let file = try folder.write(
            """
            {"hosts": {"localhost": {"pinningMode": "publicKey", "allowInvalidCertificates": true, \(fields)
             "pinnedPublicKeys": [\(list)]}}, "allHostsMustBeEvaluated": true}
            """,
            to: "policy.json"
        )
        return await NetmanRun(["check", file, "localhost:\(server.port)"] + arguments)
    }

    private func spare() throws -> String {
        "sha256/" + (try PrivateKey().publicKeySHA256).base64EncodedString()
    }

    @Test func `a server that its pins fit, with a backup pin, is exit status 0`() async throws {
        let run = try await check([try Self.pin(leaf.certificate), try spare()])
        #expect(run.status == 0)
        #expect(run.text.contains("matched \(try Self.pin(leaf.certificate)), the server's own"))
        #expect(run.text.contains("expires in 36"), "a year, less a day")
        #expect(server.requests.map(\.method) == ["HEAD"])
    }

    @Test func `a server that no pin fits is exit status 1, and nothing is sent to it`() async throws {
        let run = try await check([try spare()])
        #expect(run.status == 1)
        #expect(run.text.contains("attention"))
        #expect(server.requests.isEmpty)
    }

    @Test func `a missing backup pin is exit status 1, unless it is not asked for`() async throws {
        let pins = [try Self.pin(leaf.certificate)]
        let run = try await check(pins)
        #expect(run.status == 1)
        #expect(run.text.contains("no backup pin"))
        #expect(try await check(pins, "--no-backup").status == 0)
    }

    @Test func `what expires soon is exit status 1`() async throws {
        let pins = [try Self.pin(leaf.certificate), try spare()]
        let run = try await check(pins, "--days", "10000")
        #expect(run.status == 1)
        #expect(run.text.contains("! CN="))
    }

    @Test(arguments: [
        (-1, 1, "the pins do not count any more"), (10, 1, "the pins count for 9 days only"),
        (100, 0, "the pins count for 99 days only"),
    ])
    func `pins that end are told of, and soon is exit status 1`(days: Int, status: Int32, words: String)
        async throws
    {
        let end = Date.now.addingTimeInterval(Double(days) * 86_400).formatted(.iso8601)
        let file = try folder.write(
            """
            {"hosts": {"localhost": {"pinningMode": "publicKey", "pinExpiration": "\(end)",
             "trustAnchors": {"system": false, "certificates": ["\(root.certificate.der.base64EncodedString())"]},
             "pinnedPublicKeys": ["\(try Self.pin(leaf.certificate))", "\(try spare())"]}}}
            """,
            to: "ending.json"
        )
        let run = await NetmanRun(["check", file, "localhost:\(server.port)"])
        #expect(run.status == status)
        #expect(run.text.contains(words))
    }

    @Test func `a server that is trusted and then gives no answer is trusted all the same`() async throws {
        let mute = try TestServer(tls: TLSOptions(identity: leaf)) { _ in .script([.reset]) }
        let pins = "\"\(try Self.pin(leaf.certificate))\", \"\(try spare())\""
        let file = try folder.write(
            """
            {"hosts": {"localhost": {"pinningMode": "publicKey", "allowInvalidCertificates": true,
             "pinnedPublicKeys": [\(pins)]}}}
            """,
            to: "mute.json"
        )
        let run = await NetmanRun(["check", file, "localhost:\(mute.port)"])
        #expect(run.status == 0)
        #expect(run.text.contains("the server's own"))
    }

    @Test func `a pattern for many hosts is named, since none of them was checked`() async throws {
        let file = try folder.write(
            #"{"hosts": {"*.example.com": {"pinningMode": "none"}}}"#,
            to: "wild.json"
        )
        let run = await NetmanRun(["check", file])
        #expect(run.status == 2)
        #expect(run.errors.contains("*.example.com is no single host"))
        #expect(run.errors.contains("names no host in full"))
    }

    @Test func `a policy under audit that would refuse is exit status 1`() async throws {
        let file = try folder.write(
            """
            {"hosts": {"localhost": {"pinningMode": "publicKey", "pinEnforcement": "audit",
             "trustAnchors": {"system": false, "certificates": ["\(root.certificate.der.base64EncodedString())"]},
             "pinnedPublicKeys": ["\(try spare())"]}}}
            """,
            to: "audit.json"
        )
        let run = await NetmanRun(["check", file, "localhost:\(server.port)"])
        #expect(run.status == 1)
        #expect(run.text.contains("would be refused"))
    }

    @Test func `a host that cannot be reached is exit status 2`() async throws {
        server.stop()
        let run = try await check([try spare()], "--json")
        #expect(run.status == 2)
        let json = try JSONValue(parsing: run.output)
        #expect(json[0]?["status"] == "unreachable")
        #expect(json[0]?["findings"]?[0]?["kind"] == "unreachable")
    }

    @Test func `a file that cannot be read is exit status 2, with line and key`() async throws {
        let file = try folder.write("{\"hosts\": {\n\"a.example\": {\"pinningMode\": 9}}}", to: "bad.json")
        let run = await NetmanRun(["check", file])
        #expect(run.status == 2)
        #expect(run.errors.contains("bad.json:2: hosts.\"a.example\".pinningMode"))
    }

    @Test func `a host without a policy is not taken for checked`() async throws {
        let file = try folder.write(#"{"hosts": {}, "allHostsMustBeEvaluated": true}"#, to: "none.json")
        #expect(await NetmanRun(["check", file, "localhost:\(server.port)"]).status == 2)
        #expect(await NetmanRun(["check", file]).status == 2, "no host at all")
    }

    @Test(arguments: [
        ([CommandStatus.success, .success], CommandStatus.success), ([.failed, .refused], .refused),
        ([.success, .failed], .failed),
    ])
    func `a refusal outweighs a host that could not be asked`(statuses: [CommandStatus], whole: CommandStatus)
    {
        #expect(CheckCommand.status(statuses) == whole)
    }

    @Test func `the report keeps to the terminal's columns`() async throws {
        let file = try folder.write(
            """
            {"hosts": {"localhost": {"pinningMode": "publicKey", "allowInvalidCertificates": true,
             "pinnedPublicKeys": ["\(try spare())"]}}}
            """,
            to: "policy.json"
        )
        let run = await NetmanRun(["check", file, "localhost:\(server.port)"], columns: 80)
        #expect(run.status == 1)
        #expect(run.lines.allSatisfy { $0.count <= 80 })
    }
}
