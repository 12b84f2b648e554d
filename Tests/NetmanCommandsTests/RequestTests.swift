import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import Serializers
import TestPKI
import TestServer
import Testing

@testable import NetmanCommands

@Suite struct RequestTests {
    private let folder: Workspace
    private let identity: Identity
    private let server: TestServer
    private let pin: String

    init() throws {
        folder = try Workspace()
        identity = try PinsTests.tree().leaf
        pin = "sha256/" + (try identity.certificate.publicKeySHA256).base64EncodedString()
        server = try TestServer(tls: TLSOptions(identity: identity)) { request in
            switch request.path {
            case "/missing": .text("no", status: 404)
            case "/broken": .text("no", status: 503)
            case "/escape":
                .text("a\u{1B}]0;title\u{07}b")
            case "/binary": .data(Data([0xFF, 0, 0xFE, 0]))
            default: .json(#"{"method":"\#(request.method)","query":"\#(request.query ?? "")"}"#)
            }
        }
    }

    private var trust: [String] { ["--pin", pin, "--allow-invalid"] }

    private func run(_ arguments: [String], columns: Int? = nil) async -> NetmanRun {
        await NetmanRun(arguments + trust, columns: columns)
    }

    @Test func `GET writes the body as it came, and parameters into the URL`() async throws {
        let run = await run(["get", server.url("/users"), "page=2", "q==a b"])
        #expect(run.status == 0)
        #expect(run.text == #"{"method":"GET","query":"q=a%20b&page=2"}"#)
        #expect(run.errors.isEmpty)
    }

    @Test func `POST sends text and JSON as one JSON object`() async throws {
        _ = await run(["post", server.url("/users"), "name=Ada", "age:=36", "X-Trace:on"])
        let request = try #require(server.requests.first)
        #expect(request.headers["Content-Type"]?.hasPrefix("application/json") == true)
        #expect(request.headers["X-Trace"] == "on")
        #expect(try JSONValue(parsing: Data(request.text.utf8)) == ["name": "Ada", "age": 36])
    }

    @Test func `--form sends a form`() async throws {
        _ = await run(["post", server.url("/users"), "name=Ada Lovelace", "--form"])
        #expect(server.requests.first?.text == "name=Ada%20Lovelace")
    }

    @Test func `a file is the body, or a part of a form`() async throws {
        let file = try folder.write("content of the file", to: "data.txt")
        _ = await run(["put", server.url("/a"), "@\(file)"])
        _ = await run(["post", server.url("/b"), "note=x", "upload@\(file)"])
        let requests = server.requests
        #expect(requests.first?.text == "content of the file")
        let form = try #require(requests.last)
        #expect(form.headers["Content-Type"]?.hasPrefix("multipart/form-data") == true)
        #expect(form.text.contains("filename=\"data.txt\""))
        #expect(form.text.contains("name=\"note\""))
    }

    @Test func `a server that no pin fits is exit status 1, and sees no request`() async throws {
        let other = "sha256/" + (try PrivateKey().publicKeySHA256).base64EncodedString()
        let run = await NetmanRun(["get", server.url(), "--pin", other, "--allow-invalid"])
        #expect(run.status == 1)
        #expect(server.requests.isEmpty)
        #expect(await NetmanRun(["get", server.url()]).status == 1, "nobody vouches for it")
    }

    @Test func `--signature takes a certificate file by its name`() async throws {
        try identity.intermediates[0].der.write(to: URL(filePath: folder.path("server.cer")))
        let arguments = ["get", server.url(), "--certificates", folder.path, "--signature"]
        #expect(await NetmanRun(arguments + ["server"]).status == 0)
        #expect(await NetmanRun(arguments + ["other"]).status == 2)
    }

    @Test func `--policy judges by the file`() async throws {
        let file = try folder.write(
            """
            {"hosts": {"localhost": {"pinningMode": "publicKey", "allowInvalidCertificates": true,
             "pinnedPublicKeys": ["\(pin)"]}}}
            """,
            to: "policy.json"
        )
        #expect(await NetmanRun(["get", server.url(), "--policy", file]).status == 0)
    }

    @Test func `statuses of failure are exit statuses 4 and 5, with the body`() async throws {
        let missing = await run(["get", server.url("/missing")])
        #expect(missing.status == 4)
        #expect(missing.text == "no")
        #expect(await run(["get", server.url("/broken")]).status == 5)
    }

    @Test func `--explain tells address, TLS, verdict and path on standard error`() async throws {
        let run = await run(["get", server.url(), "--explain"])
        #expect(run.errors.contains("127.0.0.1:\(server.port), a new connection"))
        #expect(run.errors.contains("TLSv1.3"))
        #expect(run.errors.contains("the server's own key is pinned"))
        #expect(run.errors.contains(pin))
        #expect(run.errors.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(run.text.hasPrefix("{"))
    }

    @Test func `--explain shows the chain of a server that was refused`() async throws {
        let run = await NetmanRun(["get", server.url(), "--explain"])
        #expect(run.errors.contains("nothing of the request was sent"))
        #expect(run.errors.contains(pin))
    }

    @Test func `--as-curl sends nothing`() async throws {
        let arguments = ["post", server.url("/x"), "password=geheim", "--as-curl"]
        let run = await run(arguments)
        #expect(run.status == 0)
        #expect(run.text.hasPrefix("curl --pinnedpubkey 'sha256//"))
        #expect(!run.text.contains("geheim"))
        #expect(await self.run(arguments + ["--reveal-secrets"]).text.contains("geheim"))
        #expect(server.connections.isEmpty)
    }

    @Test func `--as-curl says what curl does otherwise, all of it`() async {
        let arguments = ["post", "https://a.example/x", "password=geheim", "--as-curl"]
        let pinned = await run(arguments).errors
        #expect(pinned.contains("the server's own key only"))
        #expect(pinned.contains("left out"))
        let named = await NetmanRun(arguments + ["--signature", "server", "--reveal-secrets"])
        #expect(named.errors.contains("does not pin"))
        #expect(!named.errors.contains("left out"))
        #expect(!named.text.contains("pinnedpubkey"))
    }

    @Test func `a body that is no text is counted on a terminal, and written elsewhere`() async throws {
        let run = await run(["get", server.url("/binary")], columns: 80)
        #expect(run.text.contains("(4 bytes that are no text"))
        #expect(await self.run(["get", server.url("/binary")]).output == Data([0xFF, 0, 0xFE, 0]))
    }

    @Test func `a terminal gets the head, JSON laid out, and no escape sequence of the server's`()
        async throws
    {
        let json = await run(["get", server.url()], columns: 80)
        #expect(json.lines.first == "HTTP/1.1 200")
        #expect(json.text.contains("  \"method\" : \"GET\""))
        let hostile = await run(["get", server.url("/escape")], columns: 80)
        #expect(hostile.text.hasSuffix("\n\na\\x1B]0;title\\x07b\n"))
        #expect(
            await run(["get", server.url("/escape")]).text == "a\u{1B}]0;title\u{07}b",
            "bytes elsewhere"
        )
    }

    @Test func `redirects are followed when they are asked for`() async throws {
        let target = server.url("/users")
        let redirecting = try TestServer(tls: TLSOptions(identity: identity)) { _ in .redirect(to: target) }
        let stays = await run(["get", redirecting.url(), "--headers"])
        #expect(stays.lines.first == "HTTP/1.1 302")
        #expect(stays.status == 0)
        #expect(await run(["get", redirecting.url(), "--follow"]).text.contains("\"GET\""))
    }
}
