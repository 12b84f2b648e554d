import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// Refreshes tokens: `1`, `2`, … after a gate.
private final class TokenSource: Sendable {
    struct Broken: Error, Equatable {}

    let count = Shared(0)
    private let gate: Latch?
    private let fails: Bool

    init(after gate: Latch? = nil, fails: Bool = false) {
        self.gate = gate
        self.fails = fails
    }

    func refresh(_ old: BearerAuthentication.Token?) async throws -> BearerAuthentication.Token {
        let number = count.withLock { count in
            count += 1
            return count
        }
        await gate?.wait()
        if fails { throw Broken() }
        return .init("\(number)")
    }
}

@Suite struct BearerAuthenticationTests {
    private let origin: URL

    init() throws {
        origin = try #require(URL(string: "https://api.example.com"))
    }

    private func authentication(
        _ source: TokenSource,
        token: BearerAuthentication.Token? = .init("old")
    ) -> BearerAuthentication {
        BearerAuthentication(for: [origin], token: token) { try await source.refresh($0) }
    }

    /// A server that takes only these tokens.
    private func stub(taking tokens: String...) -> StubTransport {
        StubTransport { request in
            let token = request.headers["Authorization"]?.dropFirst("Bearer ".count) ?? ""
            return tokens.contains(String(token))
                ? .json("\"\(token)\"", to: request) : .empty(401, to: request)
        }
    }

    @Test func `a refused token is refreshed and the request sent again`() async throws {
        let source = TokenSource()
        let stub = stub(taking: "1")
        let manager = HTTPSessionManager(stub) { $0.interceptors = [authentication(source)] }
        #expect(try await manager.post("x", parameters: ["a": 1]) == "1")
        #expect(source.count.value == 1)
        #expect(stub.requests.map { $0.headers["Authorization"] } == ["Bearer old", "Bearer 1"])
        #expect(stub.requests.map(\.bodyText) == ["a=1", "a=1"])
        #expect(try await manager.get("x") == "1")
        #expect(stub.requests.count == 3)
    }

    @Test func `many refused requests lead to one refresh`() async throws {
        let gate = Latch()
        let source = TokenSource(after: gate)
        let refusals = Gate()
        let server = try TestServer { request in
            request.headers["Authorization"] == "Bearer 1"
                ? .json("\"fine\"") : Answer.status(401).after(refusals)
        }
        let bearer = BearerAuthentication(for: [URL(string: server.url())!], token: .init("old")) {
            try await source.refresh($0)
        }
        let manager = HTTPSessionManager(CurlTransport()) { $0.interceptors = [bearer] }
        let url = server.url()
        let answers = try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<50 { group.addTask { try await manager.get(url) } }
            await refusals.reached(times: 50)
            refusals.open()
            #expect(await server.until { $0.requests >= 50 })
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == [JSONValue](repeating: "fine", count: 50))
        #expect(source.count.value == 1)
        #expect(server.counters.requests == 100)
    }

    @Test func `when the refresh fails, all that wait fail with its error`() async throws {
        let source = TokenSource(fails: true)
        let refusals = Gate()
        let server = try TestServer { _ in Answer.status(401).after(refusals) }
        let bearer = BearerAuthentication(for: [URL(string: server.url())!], token: .init("old")) {
            try await source.refresh($0)
        }
        let manager = HTTPSessionManager(CurlTransport()) { $0.interceptors = [bearer] }
        let url = server.url()
        let errors = await withTaskGroup(of: RequestError?.self) { group in
            for _ in 0..<20 { group.addTask { await requestError { _ = try await manager.get(url) } } }
            await refusals.reached(times: 20)
            refusals.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
        for error in errors {
            guard case .custom(let cause)? = error?.kind else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(cause is TokenSource.Broken)
        }
        // All had been sent before it failed, so it was for all of them.
        #expect(source.count.value == 1)
        #expect(server.counters.requests == 20)
        // A later request has it tried again.
        _ = await requestError { _ = try await manager.get(url) }
        #expect(source.count.value == 2)
    }

    @Test func `a token that was replaced meanwhile is used without a second refresh`() async throws {
        let source = TokenSource()
        let late = Latch()
        let sent = Latch()
        let stub = StubTransport { request in
            if request.headers["Authorization"] == "Bearer 1" { return .json("1", to: request) }
            if request.url.path.hasSuffix("late") {
                sent.open()
                await late.wait()
            }
            return .empty(401, to: request)
        }
        let manager = HTTPSessionManager(stub) { $0.interceptors = [authentication(source)] }
        let call = Task { try await manager.get("late") }
        await sent.wait()
        _ = try await manager.get("early")
        late.open()
        #expect(try await call.value == 1)
        #expect(source.count.value == 1)
    }

    @Test func `a second refusal is the caller's`() async throws {
        let source = TokenSource()
        let stub = stub()
        let manager = HTTPSessionManager(stub) { $0.interceptors = [authentication(source)] }
        let error = await requestError { _ = try await manager.get("x") }
        guard case .unacceptableStatus(401)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(stub.requests.count == 2)
        #expect(source.count.value == 1)
    }

    @Test func `a body that can be sent once is not sent again, and the next request has a new token`()
        async throws
    {
        let source = TokenSource()
        let stub = stub(taking: "1")
        let manager = HTTPSessionManager(stub) { $0.interceptors = [authentication(source)] }
        let pieces = AsyncStream<Data> { $0.finish() }
        let error = await requestError { _ = try await manager.upload("x", from: .stream(pieces)) }
        guard case .unacceptableStatus(401)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(source.count.value == 0)
        #expect(try await manager.get("x") == "1")
        #expect(stub.requests.map { $0.headers["Authorization"] } == ["Bearer old", "Bearer 1"])
    }

    @Test func `a token that is missing or about to expire is got before the request`() async throws {
        for token in [nil, BearerAuthentication.Token("old", expires: Date(timeIntervalSinceNow: 20))] {
            let source = TokenSource()
            let stub = stub(taking: "1")
            let manager = HTTPSessionManager(stub) {
                $0.interceptors = [authentication(source, token: token)]
            }
            #expect(try await manager.get("x") == "1")
            #expect(stub.requests.count == 1)
        }
    }

    @Test func `another origin neither gets the token nor leads to a refresh`() async throws {
        let source = TokenSource()
        let stub = StubTransport { request in
            request.url.host == "api.example.com" && request.url.path == "/v1/away"
                ? .empty(302, headers: ["Location": "https://evil.example.com/"], to: request)
                : .empty(401, to: request)
        }
        let manager = HTTPSessionManager(stub) { $0.interceptors = [authentication(source)] }
        for url in [
            "https://evil.example.com/", "http://api.example.com/", "https://api.example.com:444/", "away",
        ] {
            _ = await requestError { _ = try await manager.get(url) }
        }
        let elsewhere = stub.requests.filter { $0.url.host != "api.example.com" || $0.url.port == 444 }
        #expect(elsewhere.count == 3)
        #expect(elsewhere.allSatisfy { !$0.headers.contains("Authorization") })
        #expect(stub.requests.filter { $0.headers.contains("Authorization") }.map(\.url.path) == ["/v1/away"])
        #expect(source.count.value == 0)
    }

    @Test func `a request with credentials of its own is left alone`() async throws {
        let source = TokenSource()
        let stub = stub()
        let manager = HTTPSessionManager(stub) { $0.interceptors = [authentication(source)] }
        _ = await requestError { _ = try await manager.get("x", headers: ["Authorization": "Basic eA=="]) }
        #expect(stub.requests.map { $0.headers["Authorization"] } == ["Basic eA=="])
        #expect(source.count.value == 0)
    }

    @Test func `the refresh may use the same manager`() async throws {
        let stub = StubTransport { request in
            switch request.headers["Authorization"] {
            case "Bearer new": .json("\"fine\"", to: request)
            case nil: .json("\"new\"", to: request)
            default: .empty(401, to: request)
            }
        }
        let managers = Shared<HTTPSessionManager?>(nil)
        let bearer = BearerAuthentication(for: [origin], token: .init("old")) { _ in
            .init(try await managers.value?.get("token").string ?? "")
        }
        let manager = HTTPSessionManager(stub) { $0.interceptors = [bearer] }
        managers.withLock { $0 = manager }
        #expect(try await manager.get("x") == "fine")
        managers.withLock { $0 = nil }
    }

    @Test func `a call that waits for a token ends when it is cancelled or its time is over`() async throws {
        let gate = Latch()
        let source = TokenSource(after: gate)
        let manager = HTTPSessionManager(stub(taking: "1")) { $0.interceptors = [authentication(source)] }
        let cancelled = Task { try await manager.get("x") }
        while source.count.value == 0 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        var options = RequestOptions()
        options.timeout = .milliseconds(50)
        let error = await requestError { [options] in _ = try await manager.get("x", options: options) }
        guard case .timedOut(.total)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        // The refresh went on, and is good for the next one.
        let next = Task { try await manager.get("x") }
        gate.open()
        #expect(try await next.value == "1")
        #expect(source.count.value == 1)
    }

    @Test func `a refresh that takes too long fails those who wait, and a later one begins anew`()
        async throws
    {
        let gate = Latch()
        let source = TokenSource(after: gate)
        let bearer = BearerAuthentication(for: [origin], timeout: .milliseconds(20)) {
            try await source.refresh($0)
        }
        let manager = HTTPSessionManager(stub(taking: "2")) { $0.interceptors = [bearer] }
        let error = await requestError { _ = try await manager.get("x") }
        guard case .custom(let cause)? = error?.kind, cause is BearerAuthentication.RefreshTimedOut else {
            Issue.record("\(String(describing: error))")
            return
        }
        gate.open()
        #expect(try await manager.get("x") == "2")
    }

    @Test func `refreshes that do not end when they are cancelled are at most four at a time`() async throws {
        let held = Shared<[CheckedContinuation<Void, Never>]>([])
        let count = Shared(0)
        let bearer = BearerAuthentication(for: [origin], timeout: .milliseconds(50)) { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number <= 4 {
                await withCheckedContinuation { continuation in held.withLock { $0.append(continuation) } }
            }
            return .init(number <= 4 ? "late" : "new")
        }
        let manager = HTTPSessionManager(stub(taking: "new")) { $0.interceptors = [bearer] }
        for _ in 0..<10 {
            let error = await requestError { _ = try await manager.get("x") }
            guard case .custom(let cause)? = error?.kind, cause is BearerAuthentication.RefreshTimedOut else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(count.value == 4)
        while held.value.count < 4 { await Task.yield() }
        // What they bring does not count; when one has ended, there is room for another.
        for continuation in held.value { continuation.resume() }
        var answer: JSONValue?
        while answer == nil { answer = try? await manager.get("x") }
        #expect(answer == "new")
        #expect(count.value >= 5)
    }

    @Test func `a refresh is cancelled when a token is set meanwhile`() async throws {
        let begun = Shared(false)
        let ended = Latch()
        let bearer = BearerAuthentication(for: [origin]) { _ in
            begun.withLock { $0 = true }
            do {
                try await Task.sleep(for: .seconds(3_600))
            } catch {
                ended.open()
                throw error
            }
            return .init("late")
        }
        let manager = HTTPSessionManager(stub(taking: "login")) { $0.interceptors = [bearer] }
        let call = Task { try await manager.get("x") }
        while !begun.value { await Task.yield() }
        bearer.token = .init("login")
        #expect(try await call.value == "login")
        await ended.wait()
        #expect(bearer.token?.value == "login")
    }

    @Test func `a token that is set during a refresh is what the waiting requests get`() async throws {
        let gate = Latch()
        let source = TokenSource(after: gate)
        let bearer = authentication(source)
        let manager = HTTPSessionManager(stub(taking: "login")) { $0.interceptors = [bearer] }
        let call = Task { try await manager.get("x") }
        while source.count.value == 0 { await Task.yield() }
        bearer.token = .init("login")
        #expect(try await call.value == "login")
        gate.open()
        #expect(try await manager.get("x") == "login")
        #expect(bearer.token?.value == "login")
    }
}
