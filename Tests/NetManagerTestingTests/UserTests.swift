import NetManagerTesting
import Testing

// As a program that uses the library would write its tests: one import, no access to anything internal.

/// What is tested: a client of somebody's service.
private struct UserService: Sendable {
    struct User: Codable, Sendable, Equatable {
        var name: String
    }

    let manager: HTTPSessionManager

    init(
        _ transport: any Transport,
        base: String = "https://api.example.com/",
        policy: SecurityPolicy = .default
    ) {
        var configuration = HTTPSessionManager.Configuration(
            baseURL: URL(string: base),
            headers: ["Authorization": "Bearer t0p-s3cret"],
            securityPolicy: policy
        )
        configuration.timeout = .seconds(60)
        manager = HTTPSessionManager(configuration, transport: transport)
    }

    func user(_ name: String) async throws -> User {
        try await manager.get("users", parameters: ["name": .string(name)], as: .decoding(User.self))
    }

    func logIn(password: String) async throws -> String {
        let answer = try await manager.post("login", parameters: ["password": .string(password)])
        return answer["token"]?.string ?? ""
    }
}

@Suite struct UserTests {
    private static let handler: TestServer.Handler = { request in
        switch request.path {
        case "/users": .json(#"{"name":"Ada"}"#)
        case "/login": .json(#"{"token":"0123456789","author":"Ada"}"#)
        default: .status(404)
        }
    }

    @Test func `a stub answers without sockets`() async throws {
        let stub = StubTransport(json: #"{"name":"Ada"}"#)
        #expect(try await UserService(stub).user("Ada").name == "Ada")
        #expect(stub.requests.map(\.url.absoluteString) == ["https://api.example.com/users?name=Ada"])
    }

    @Test func `a server of one's own is verified by a pin`() async throws {
        let identity = try Identity.selfSigned(
            .server(.dns("localhost")).with { $0.subject = .init(commonName: "localhost") }
        )
        let server = try TestServer(tls: TLSOptions(identity: identity), handler: Self.handler)
        let pinned = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try Certificate(der: identity.certificateDER)],
            allowInvalidCertificates: true
        )
        let right = UserService(CurlTransport(), base: server.url(), policy: pinned)
        #expect(try await right.user("Ada").name == "Ada")
        await #expect(throws: RequestError.self) {
            try await UserService(CurlTransport(), base: server.url()).user("Ada")
        }
        #expect(server.requests.count == 1)
    }

    @Test func `a server breaks off in the middle`() async throws {
        let server = try TestServer { _ in Fault.truncatedBody(declaring: 100, sending: 10).answer }
        let error = try await #require(throws: RequestError.self) {
            try await UserService(CurlTransport(), base: server.url()).user("Ada")
        }
        #expect(error.label == "connection_lost")
    }

    @Test func `what a server answered is replayed from a file that holds no secret`() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/recording-\(UUID()).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try TestServer(handler: Self.handler)
        let base = server.url()
        let recorder = RecordingTransport(CurlTransport())
        let live = UserService(recorder, base: base)
        #expect(try await live.user("Ada").name == "Ada")
        #expect(try await live.logIn(password: "hunter2") == "0123456789")
        try recorder.recording.write(to: path)
        server.stop()

        let text = try String(contentsOfFile: path, encoding: .utf8)
        for secret in ["t0p-s3cret", "hunter2", "0123456789"] { #expect(!text.contains(secret)) }
        #expect(text.contains("Ada"))

        let replay = try ReplayTransport(contentsOf: path)
        let again = UserService(replay, base: base)
        // In another order, and with another secret.
        #expect(try await again.logIn(password: "other") == Redaction.mark)
        #expect(try await again.user("Ada").name == "Ada")
        #expect(replay.unused.isEmpty)
        let error = try await #require(throws: RequestError.self) { try await again.user("Ada") }
        #expect("\(error)".contains("not left in the recording"))
    }
}
