// Only the one import that users write, besides the test library: these calls are the contract of the surface.
import NetManager
import Testing

/// The calls that programs write, as they write them.
@Suite struct ContractTests {
    struct User: Decodable, Sendable, Equatable { var name: String }

    private let users = HTTPSessionManager(
        HTTPSessionManager.Configuration(baseURL: URL(string: "https://x/")),
        transport: StubTransport(json: #"[{"name":"Ann"}]"#)
    )

    @Test func `closure calls compile as users write them, with and without parameters`() async {
        let manager = HTTPSessionManager(transport: StubTransport(json: #"{"name":"Ann"}"#))
        let (calls, tell) = AsyncStream<String>.makeStream()
        manager.get(
            "https://x/y",
            parameters: ["page": 1, "q": "x", "n": ["a": [1, nil]]],
            success: { task, json in tell.yield("success \(task.isFinished) \(json["name"]?.string ?? "")") },
            failure: { task, error in tell.yield("failure \(task) \(error)") }
        )
        manager.get("https://x/y") { _, json in
            tell.yield("trailing \(json["name"]?.string ?? "")")
        } failure: { _, error in
            tell.yield("failure \(error)")
        }
        manager.get(
            "https://x/y",
            as: .decoding(User.self),
            success: { _, user in tell.yield("typed \(user.name)") }
        )
        manager.request(
            .post,
            signature: nil,
            api: "https://x",
            parameters: ["a": 1],
            success: { json in tell.yield("request \(json["name"]?.string ?? "")") },
            fail: { error in tell.yield("fail \(error)") }
        )
        AKNetPackegeAFN(manager: manager).netWorkType(
            .get,
            signature: nil,
            api: "https://x",
            parameters: ["a": 1],
            success: { json in tell.yield("AK \(json["name"]?.string ?? "")") },
            fail: { error in tell.yield("fail \(error)") }
        )
        var seen: Set<String> = []
        for await call in calls {
            seen.insert(call)
            if seen.count == 5 { break }
        }
        #expect(seen == ["success true Ann", "trailing Ann", "typed Ann", "request Ann", "AK Ann"])
    }

    @Test func `every verb has both styles, typed and untyped`() async throws {
        let manager = HTTPSessionManager(transport: StubTransport(json: #"{"name":"Ann"}"#))
        let untyped: [(@escaping @Sendable (RequestTask, JSONValue) -> Void) -> RequestTask] = [
            { manager.get("https://x", success: $0) }, { manager.post("https://x", success: $0) },
            { manager.put("https://x", success: $0) }, { manager.patch("https://x", success: $0) },
            { manager.delete("https://x", success: $0) },
        ]
        for verb in untyped {
            let name = await withCheckedContinuation { done in
                _ = verb { _, json in done.resume(returning: json["name"]?.string) }
            }
            #expect(name == "Ann")
        }
        let status = await withCheckedContinuation { done in
            manager.head("https://x", success: { _, head in done.resume(returning: head.status) })
        }
        #expect(status == 200)
        #expect(try await manager.get("https://x")["name"] == "Ann")
        #expect(try await manager.post("https://x")["name"] == "Ann")
        #expect(try await manager.put("https://x")["name"] == "Ann")
        #expect(try await manager.patch("https://x")["name"] == "Ann")
        #expect(try await manager.delete("https://x")["name"] == "Ann")
        #expect(try await manager.head("https://x").status == 200)
        let user = User(name: "Ann")
        #expect(try await manager.get("https://x", as: .decoding(User.self)) == user)
        #expect(try await manager.post("https://x", as: .decoding(User.self)) == user)
        #expect(try await manager.put("https://x", as: .decoding(User.self)) == user)
        #expect(try await manager.patch("https://x", as: .decoding(User.self)) == user)
        #expect(try await manager.delete("https://x", as: .decoding(User.self)) == user)
        #expect(try await manager.head("https://x", as: .data).isEmpty == false)
    }

    @Test func `async calls compile as users write them`() async throws {
        let json = try await users.get("users")
        #expect(json[0]?["name"] == "Ann")
        let typed = try await users.get("users", options: .init(), as: .decoding([User].self))
        #expect(typed == [User(name: "Ann")])
        let error = await requestError {
            _ = try await users.get("users", options: .signature("server"), as: .decoding([User].self))
        }
        guard case .certificate? = error?.kind else {
            Issue.record("a certificate that is not there was not missed: \(String(describing: error))")
            return
        }
    }

    @Test func `the shared manager and the shared wrapper are there`() {
        #expect(HTTPSessionManager.shared === HTTPSessionManager.shared)
        #expect(AKNetPackegeAFN.shareHttpManager() === AKNetPackegeAFN.shareHttpManager())
        #expect(AKNetWorkType.get.rawValue == 0)
        #expect(AKNetWorkType(rawValue: 1) == .post)
    }

    @Test func `trust is decided and caught by its pattern`() {
        let policy = SecurityPolicy(pinningMode: .certificate, allowInvalidCertificates: true)
        do {
            try policy.evaluate(ServerTrust(certificates: []), forDomain: "api.example.com")
            Issue.record("nothing was accepted as a certificate")
        } catch .pinMismatch(let presented, _) {
            Issue.record("there was nothing to compare: \(presented)")
        } catch {
            #expect(error == .noCertificate)
        }
    }

    /// An actor reads a stream with its own state at hand.
    actor Reader {
        var count = 0

        func read(_ manager: HTTPSessionManager, _ request: HTTPRequest) async throws -> Int {
            try await manager.stream(request) { response in
                for try await piece in response.body { count += piece.count }
            }
            return count
        }
    }

    @Test func `a stream is consumed on the caller's actor`() async throws {
        let request = HTTPRequest(url: try #require(URL(string: "https://x/users")))
        #expect(try await Reader().read(users, request) == 16)
        #expect(try await users.send(request).body.count == 16)
    }
}
