import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

@Suite struct ChallengeTests {
    /// A server that protects everything with these challenges and takes Basic and Digest of one user.
    private func server(_ challenges: String...) throws -> TestServer {
        try TestServer { request in
            let answer = request.headers["Authorization"] ?? ""
            // user:passwd, as httpbin's basic-auth.
            if answer == "Basic dXNlcjpwYXNzd2Q=" || answer.hasPrefix("Digest username=\"user\"") {
                return .json("{\"authenticated\": true, \"body\": \"\(request.text)\"}")
            }
            return Answer.json("{}", status: 401).with {
                for challenge in challenges { $0.headers.add(challenge, for: "WWW-Authenticate") }
            }
        }
    }

    private func manager(
        _ configure: (inout HTTPSessionManager.Configuration) -> Void = { _ in },
        _ handler: @escaping ChallengeHandler
    ) -> HTTPSessionManager {
        HTTPSessionManager(CurlTransport()) {
            $0.challengeHandler = handler
            configure(&$0)
        }
    }

    private let right = Authentication(user: "user", password: "passwd")

    @Test func `case 502: a handler gives the credential of a realm`() async throws {
        let server = try server("Basic realm=\"Fake Realm\"")
        let seen = Shared<[AuthenticationChallenge]>([])
        let right = right
        let manager = manager { challenge in
            seen.withLock { $0.append(challenge) }
            return challenge.realm == "Fake Realm" ? .useCredential(right) : .performDefaultHandling
        }
        let json = try await manager.post(server.url(), parameters: ["a": 1])
        #expect(json["authenticated"] == true)
        #expect(json["body"] == "a=1")
        let challenge = try #require(seen.value.first)
        #expect(seen.value.count == 1)
        #expect(challenge.scheme == "basic")
        #expect(challenge.host == "localhost")
        #expect(challenge.port == server.port)
        #expect(!challenge.isSecure)
        #expect(challenge.failureCount == 0)
        #expect(challenge.proposedCredential == nil)
        #expect(challenge.response.status == 401)
        #expect(challenge.request.method == .post)
        #expect(server.requests.first?.headers["Authorization"] == nil)
    }

    @Test func `refused credentials are counted, and the handler may try others`() async throws {
        let server = try server("Basic realm=\"r\"")
        let counts = Shared<[Int]>([])
        let right = right
        let manager = manager { challenge in
            counts.withLock { $0.append(challenge.failureCount) }
            return .useCredential(
                challenge.failureCount < 2 ? Authentication(user: "user", password: "guess") : right
            )
        }
        _ = try await manager.get(server.url())
        #expect(counts.value == [0, 1, 2])
    }

    @Test func `a handler that never stops guessing is stopped`() async throws {
        let server = try server("Basic realm=\"r\"")
        let manager = manager { _ in .useCredential(Authentication(user: "user", password: "guess")) }
        let error = await requestError { _ = try await manager.get(server.url()) }
        guard case .unacceptableStatus(401)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.counters.requests <= 12)
    }

    @Test func `the strongest scheme is asked first, and a rejected one leads to the next`() async throws {
        let server = try server(
            "Basic realm=\"b\", Unknown x=y",
            "Digest realm=\"d\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
        )
        let right = right
        for rejected in [nil, "digest"] {
            let schemes = Shared<[String]>([])
            let manager = manager { challenge in
                schemes.withLock { $0.append(challenge.scheme + " " + (challenge.realm ?? "-")) }
                return challenge.scheme == rejected ? .rejectProtectionSpace : .useCredential(right)
            }
            _ = try await manager.get(server.url())
            #expect(schemes.value == (rejected == nil ? ["digest d"] : ["digest d", "basic b"]))
        }
    }

    @Test func `default handling sends the proposed credentials once, or delivers the refusal`() async throws
    {
        let server = try server("Basic realm=\"r\"")
        let right = right
        let proposing = manager {
            $0.authentication = Authentication(user: "user", password: "passwd", schemes: .basic)
            $0.baseURL = URL(string: server.url())
        } _: { challenge in
            #expect(challenge.proposedCredential?.user == right.user)
            return .performDefaultHandling
        }
        #expect(try await proposing.get("x")["authenticated"] == true)
        // Not before the handler was asked.
        #expect(server.requests.map { $0.headers.contains("Authorization") } == [false, true])
        let wrong = manager {
            $0.authentication = Authentication(user: "user", password: "old", schemes: .basic)
            $0.baseURL = URL(string: server.url())
        } _: { _ in
            .performDefaultHandling
        }
        for manager in [
            wrong, manager { _ in .performDefaultHandling }, manager { _ in .rejectProtectionSpace },
        ] {
            let error = await requestError { _ = try await manager.get(server.url()) }
            guard case .unacceptableStatus(401)? = error?.kind else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `a challenge can be cancelled, or answered with an error of the caller's`() async throws {
        struct Own: Error {}
        let server = try server("Basic realm=\"r\"")
        let cancelling = manager { _ in .cancel }
        let cancelled = await requestError { _ = try await cancelling.get(server.url()) }
        guard case .cancelled? = cancelled?.kind else {
            Issue.record("\(String(describing: cancelled))")
            return
        }
        #expect(cancelled?.response?.head.status == 401)
        let throwing = manager { _ in throw Own() }
        let error = await requestError { _ = try await throwing.get(server.url()) }
        guard case .custom(let own)? = error?.kind, own is Own else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.counters.requests == 2)
    }

    @Test func `an answer is for its origin alone`() async throws {
        let other = try server("Basic realm=\"other\"")
        let first = try TestServer { request in
            request.headers["Authorization"] == nil
                ? Answer.status(401).header("WWW-Authenticate", "Basic realm=\"first\"")
                : .redirect(to: other.url())
        }
        let right = right
        let manager = manager { challenge in
            challenge.realm == "first" ? .useCredential(right) : .performDefaultHandling
        }
        let error = await requestError { _ = try await manager.get(first.url()) }
        guard case .unacceptableStatus(401)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(first.counters.requests == 2)
        #expect(other.requests.map { $0.headers["Authorization"] } == [nil])
    }

    @Test func `a body that can be sent once gets no second try`() async throws {
        let server = try server("Basic realm=\"r\"")
        let right = right
        let manager = manager { _ in .useCredential(right) }
        let pieces = AsyncStream<Data> { $0.finish() }
        let error = await requestError { _ = try await manager.upload(server.url(), from: .stream(pieces)) }
        guard case .unacceptableStatus(401)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(server.counters.requests == 1)
    }

    @Test func `a handler that does not answer does not outlive the call`() async throws {
        let server = try server("Basic realm=\"r\"")
        let held = Shared<[CheckedContinuation<Void, Never>]>([])
        let manager = manager { _ in
            await withCheckedContinuation { continuation in held.withLock { $0.append(continuation) } }
            return .cancel
        }
        var options = RequestOptions()
        options.timeout = .seconds(2)
        let error = await requestError { [options] in
            _ = try await manager.get(server.url(), options: options)
        }
        guard case .timedOut(.total)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(held.value.count == 1)
        for continuation in held.value { continuation.resume() }
    }
}

@Suite struct ServerChallengeTests {
    private func read(_ fields: String...) -> [ServerChallenge] { ServerChallenge.list(fields) }

    @Test func `a challenge has a scheme and parameters`() {
        let list = read("Digest realm=\"a, \\\"b\\\"\", NONCE=abc , qop=\"auth,auth-int\"")
        #expect(list.map(\.scheme) == ["digest"])
        #expect(list.first?.parameters == ["realm": "a, \"b\"", "nonce": "abc", "qop": "auth,auth-int"])
    }

    @Test func `a field may hold many challenges`() {
        let list = read(
            "Newauth realm=\"apps\", type=1, title=\"Login\", Basic realm=\"simple\", Negotiate, ntlm"
        )
        #expect(list.map(\.scheme) == ["newauth", "basic", "negotiate", "ntlm"])
        #expect(list[0].parameters == ["realm": "apps", "type": "1", "title": "Login"])
        #expect(list[1].parameters == ["realm": "simple"])
    }

    @Test func `a challenge may have a token instead of parameters`() {
        #expect(read("Negotiate YII/+==, Basic realm=x").map(\.scheme) == ["negotiate", "basic"])
    }

    @Test(arguments: ["", ",", "  ", "=", "\"", "Basic realm=\"never ends", "é", "Basic ===", ",,Basic,,"])
    func `what cannot be read ends its field`(text: String) {
        let list = read(text, "Digest realm=\"r\"")
        #expect(list.last?.scheme == "digest")
        #expect(list.count <= 2)
    }

    @Test func `a flood of challenges is cut off`() {
        #expect(read(String(repeating: "Basic realm=\"r\", ", count: 10_000)).count == 32)
    }
}
