import NetManager
import TestServer
import Testing

/// Calls against a server after the model of httpbin.
@Suite struct EchoCallTests {
    private let server: TestServer

    init() throws {
        server = try TestServer(handler: Echo.handler)
    }

    private func manager(
        _ configure: (inout HTTPSessionManager.Configuration) -> Void = { _ in }
    ) -> HTTPSessionManager {
        var configuration = HTTPSessionManager.Configuration(baseURL: URL(string: server.url()))
        configure(&configuration)
        return HTTPSessionManager(configuration, transport: CurlTransport())
    }

    @Test func `case 479: a GET ends in success with an object`() async throws {
        let ended = await outcome { manager().get("get", success: $0, failure: $1) }
        #expect(ended.value?["method"] == "GET")
        #expect(ended.error == nil)
    }

    @Test func `case 487: a manager of another's configuration is a copy of its own`() async throws {
        let manager = manager { $0.headers = ["X-A": "1"] }
        let copy = HTTPSessionManager(manager.configuration, transport: CurlTransport())
        manager.configuration.headers["X-A"] = "2"
        #expect(try await copy.get("get")["headers"]?["X-A"] == "1")
        #expect(try await manager.get("get")["headers"]?["X-A"] == "2")
    }

    @Test func `case 512: progress of a big answer reaches its end`() async throws {
        let fractions = Shared<[Double?]>([])
        let ended: Outcome<Data> = await outcome { success, failure in
            manager().get("bytes/1000000", as: .data, success: success, failure: failure) { progress in
                guard progress.direction == .download else { return }
                fractions.withLock { $0.append(progress.fraction) }
            }
        }
        #expect(ended.error == nil)
        #expect(ended.value?.count == 1_000_000)
        #expect(fractions.value.last == 1)
        let known = fractions.value.compactMap { $0 }
        #expect(known == known.sorted())
    }

    @Test func `case 502, case 551: the configuration's credentials answer a challenge of its server`()
        async throws
    {
        let manager = manager {
            $0.authentication = Authentication(user: "user", password: "passwd", schemes: .basic)
        }
        #expect(try await manager.get("basic-auth/user/passwd") == ["authenticated": true])
        // Another origin is not told of them.
        let other = try TestServer(handler: Echo.handler)
        let error = await requestError { _ = try await manager.get(other.url("/basic-auth/user/passwd")) }
        #expect(error?.response?.head.status == 401)
        #expect(other.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test func `case 550: a call's own credentials answer a challenge`() async throws {
        var options = RequestOptions()
        options.authentication = Authentication(user: "user1", password: "password", schemes: .basic)
        let data = try await manager().get("basic-auth/user1/password", options: options, as: .data)
        #expect(!data.isEmpty)
        let error = await requestError { _ = try await manager().get("basic-auth/user1/password") }
        #expect(error?.response?.head.status == 401)
    }
}
