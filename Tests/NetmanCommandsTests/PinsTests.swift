import ChildProcess
import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import Serializers
import TestPKI
import TestServer
import Testing

@testable import NetmanCommands

@Suite struct PinsTests {
    /// Root, intermediate and a leaf for localhost.
    static func tree(_ key: KeyKind = .p256) throws -> (root: Authority, leaf: Identity) {
        let root = try Authority(commonName: "Netman Root")
        let leaf = try root.intermediate(commonName: "Netman Intermediate").issue(
            .server("localhost").with {
                $0.subject.commonName = "localhost"
                $0.key = .new(key)
            }
        )
        return (root, leaf)
    }

    /// What people paste from the web.
    static func pipeline(_ file: String) throws -> String {
        let command = """
            openssl x509 -in "$0" -pubkey -noout | openssl pkey -pubin -outform der \
            | openssl dgst -sha256 -binary | openssl enc -base64
            """
        let text = try ChildProcess.output(of: "sh", ["-c", command, file])
        return text.split(separator: "\n").joined()
    }

    @Test(arguments: [KeyKind.p256, .p384, .rsa(2048), .ed25519])
    func `pins of a file are those of the openssl pipeline`(kind: KeyKind) async throws {
        let folder = try Workspace()
        let file = try folder.write(try Self.tree(kind).leaf.certificatePEM, to: "leaf.pem")
        let run = await NetmanRun(["pins", file, "--format", "sha256"])
        #expect(run.status == 0)
        #expect(run.lines == ["sha256/" + (try Self.pipeline(file))])
    }

    @Test func `pins of a live server are those of what it sends, and nothing is requested of it`()
        async throws
    {
        let (_, leaf) = try Self.tree()
        let server = try TestServer(tls: TLSOptions(identity: leaf)) { _ in .text("x") }
        let run = await NetmanRun(["pins", "localhost:\(server.port)", "-f", "sha256"])
        let expected = try leaf.chain.map { "sha256/" + (try $0.publicKeySHA256).base64EncodedString() }
        #expect(run.lines == expected)
        #expect(run.status == 0)
        #expect(run.errors.contains("network that you are on"))
        #expect(server.requests.isEmpty)
    }

    @Test func `a name that is neither a file's nor a host's is told to be neither`() async {
        // Longer than a label of a name may be: no resolver is asked.
        let name = String(repeating: "a", count: 64) + ".crt"
        let run = await NetmanRun(["pins", name])
        #expect(run.status == 2)
        #expect(run.errors.contains("There is no file \(name) either."))
        let host = await NetmanRun(["pins", name, "--host"])
        #expect(host.status == 2)
        #expect(!host.errors.contains("There is no file"))
    }

    @Test(.enabled(if: NginxPeer.isInstalled))
    func `pins of nginx are those that openssl s_client reads`() async throws {
        let (_, leaf) = try Self.tree()
        let nginx = try NginxPeer(.init(identity: leaf))
        let command = """
            openssl s_client -connect 127.0.0.1:$0 -servername localhost </dev/null 2>/dev/null \
            | openssl x509 -pubkey -noout | openssl pkey -pubin -outform der \
            | openssl dgst -sha256 -binary | openssl enc -base64
            """
        let text = try ChildProcess.output(of: "sh", ["-c", command, "\(nginx.port)"])
        let run = await NetmanRun(["pins", "localhost:\(nginx.port)", "-f", "curl", "--timeout", "300"])
        try #require(run.status == 0, "\(run.errors)")
        #expect(run.lines.first == "sha256//" + text.split(separator: "\n").joined())
        #expect(run.lines.count == 2)
    }

    @Test func `an expected pin is found anywhere in the chain, and silences the warning`() async throws {
        let (_, leaf) = try Self.tree()
        let server = try TestServer(tls: TLSOptions(identity: leaf)) { _ in .text("x") }
        let pin = "sha256/" + (try leaf.intermediates[0].publicKeySHA256).base64EncodedString()
        let run = await NetmanRun(["pins", "localhost:\(server.port)", "--expect", pin])
        #expect(run.status == 0)
        #expect(run.errors == "Certificate 1 has an expected pin.\n")
    }

    @Test func `a pin that is not there is exit status 1`() async throws {
        let folder = try Workspace()
        let file = try folder.write(try Self.tree().leaf.chainPEM, to: "chain.pem")
        let other = "sha256/" + (try PrivateKey().publicKeySHA256).base64EncodedString()
        let run = await NetmanRun(["pins", file, "--expect", other])
        #expect(run.status == 1)
        #expect(run.lines.count == 6, "the table is printed all the same")
    }

    @Test func `the table keeps to the terminal's columns and is whole without a terminal`() async throws {
        let folder = try Workspace()
        let long = String(repeating: "Long ", count: 12)
        let identity = try Identity.selfSigned(
            .server("localhost").with { $0.subject = .init(commonName: "localhost", organization: long) }
        )
        let file = try folder.write(identity.certificatePEM, to: "long.pem")
        let narrow = await NetmanRun(["pins", file], columns: 80)
        let table = narrow.lines.dropFirst()
        #expect(table.allSatisfy { $0.count <= 80 })
        #expect(table.contains { $0.contains("…") && $0.hasSuffix("EC P-256") })
        let whole = await NetmanRun(["pins", file])
        #expect(whole.text.contains(String(long.dropLast())))
        #expect(!whole.text.contains("…"))
    }

    @Test func `colors are for terminals that have them`() async throws {
        let folder = try Workspace()
        let file = try folder.write(try Self.tree().leaf.certificatePEM, to: "leaf.pem")
        #expect(await NetmanRun(["pins", file], columns: 80, hasColors: true).text.contains("\u{1B}[1m"))
        #expect(await !NetmanRun(["pins", file], columns: 80).text.contains("\u{1B}"))
    }

    @Test func `JSON tells position, names, dates, key and pin of each certificate`() async throws {
        let folder = try Workspace()
        let leaf = try Self.tree(.rsa(2048)).leaf
        let file = try folder.write(leaf.chainPEM, to: "chain.pem")
        let run = await NetmanRun(["pins", file, "-f", "json"])
        let json = try JSONValue(parsing: run.output)
        #expect(json["source"]?.string == file)
        let first = try #require(json["certificates"]?[0])
        #expect(first["position"] == 0)
        #expect(first["subject"] == "CN=localhost")
        #expect(first["issuer"] == "CN=Netman Intermediate")
        #expect(first["key"] == "RSA 2048")
        #expect(
            first["pin"]?.string == "sha256/" + (try leaf.certificate.publicKeySHA256).base64EncodedString()
        )
        #expect(json["certificates"]?.array?.count == 2)
    }

    @Test func `a line break in a subject does not end the comment of the Swift form`() async throws {
        let folder = try Workspace()
        let identity = try Identity.selfSigned(
            .server("localhost").with { $0.subject.commonName = "a\nfatalError()" }
        )
        let file = try folder.write(identity.certificatePEM, to: "leaf.pem")
        let run = await NetmanRun(["pins", file, "-f", "swift"])
        #expect(run.lines.count == 6)
        #expect(!run.lines.contains { $0.hasPrefix("fatalError") })
    }

    @Test func `a private key is refused`() async throws {
        let folder = try Workspace()
        let file = try folder.write(try PrivateKey().pem, to: "key.pem")
        let run = await NetmanRun(["pins", file])
        #expect(run.status == 2)
        #expect(run.errors.contains("private key"))
        #expect(run.output.isEmpty)
    }

    @Test func `a server that is not there is exit status 2`() async throws {
        let server = try TestServer { _ in .text("x") }
        let port = server.port
        server.stop()
        let run = await NetmanRun(["pins", "localhost:\(port)"])
        #expect(run.status == 2)
        #expect(run.errors.contains("localhost:\(port)"))
    }

    @Test(arguments: [
        ("a.example", "a.example:443"), ("a.example:8443", "a.example:8443"), ("[::1]:8443", "[::1]:8443"),
        ("::1", "[::1]:443"), ("https://a.example/path?q", "a.example:443"),
        ("https://a.example:8443/", "a.example:8443"),
        ("[::1]", "[::1]:443"),
    ])
    func `hosts are read with and without a port`(text: String, address: String) throws {
        #expect(try ServerAddress(text).description == address)
    }

    @Test(arguments: [
        "", ":443", "a:0", "a:65536", "a:x", "a:", "a b", "a/b", "ä.example", "[::1]x", "a@b", "a:+1",
    ])
    func `what is no host and port is refused`(text: String) {
        #expect(throws: CommandFailure.self) { try ServerAddress(text) }
    }
}
