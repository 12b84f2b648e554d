import Testing

@testable import NetManager

@Suite struct RetryTests {
    /// Sends one request through a retry policy, with time that passes at once.
    private struct Trial {
        var requests = 0
        var sleeps: [Duration] = []
        var error: RequestError?
        var status: Int?
    }

    private func trial(
        _ method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: HTTPBody? = nil,
        policy: RetryPolicy = exact,
        options: RequestOptions = .init(),
        random: Double = 0,
        answer: @escaping StubTransport.Answer
    ) async throws -> Trial {
        let stub = StubTransport(answer)
        let time = VirtualTime()
        let manager = HTTPSessionManager(stub) {
            $0.retryPolicy = policy
            $0.time = time.source(random: random)
        }
        let url = try #require(URL(string: "https://h/x"))
        var trial = Trial()
        do {
            let request = HTTPRequest(method, url: url, headers: headers, body: body)
            trial.status = try await manager.send(request, options: options).head.status
        } catch {
            trial.error = error as? RequestError
        }
        trial.requests = stub.requests.count
        trial.sleeps = time.sleeps
        return trial
    }

    /// The defaults without jitter.
    private static let exact: RetryPolicy = {
        var policy = RetryPolicy()
        policy.jitter = 0
        return policy
    }()

    private static func losing(_ request: HTTPRequest) -> RequestError {
        RequestError(.connectionLost, method: request.method, url: request.url.absoluteString)
    }

    @Test func `a manager repeats nothing unless it is told to`() async {
        let stub = StubTransport { throw Self.losing($0) }
        _ = await requestError { _ = try await HTTPSessionManager(stub).get("x") }
        #expect(stub.requests.count == 1)
    }

    @Test(arguments: [HTTPMethod.get, .head, .put, .delete, .options, .trace])
    func `case 559: idempotent methods are sent again after a lost connection`(method: HTTPMethod)
        async throws
    {
        let trial = try await trial(method) { throw Self.losing($0) }
        #expect(trial.requests == 3)
        #expect(trial.sleeps == [.milliseconds(500), .seconds(1)])
        guard case .connectionLost? = trial.error?.kind else {
            Issue.record("\(trial)")
            return
        }
    }

    @Test(arguments: [HTTPMethod.post, .patch, "BREW"])
    func `case 559: other methods are not sent again`(method: HTTPMethod) async throws {
        let trial = try await trial(method) { throw Self.losing($0) }
        #expect(trial.requests == 1)
    }

    @Test func `a POST is sent again with an idempotency key, or when it is declared repeatable`()
        async throws
    {
        let keyed = try await trial(.post, headers: ["idempotency-key": "1"]) { throw Self.losing($0) }
        #expect(keyed.requests == 3)
        var options = RequestOptions()
        options.isRepeatable = true
        let declared = try await trial(.post, options: options) { request in
            throw RequestError(.outcomeUnknown, method: request.method, url: request.url.absoluteString)
        }
        #expect(declared.requests == 3)
    }

    @Test(arguments: 100...599)
    func `case 560: a status is repeated if it is 408, 500, 502, 503 or 504`(status: Int) async throws {
        let trial = try await trial { .empty(status, to: $0) }
        #expect(trial.requests == ([408, 500, 502, 503, 504].contains(status) ? 3 : 1))
        #expect(trial.status == status)
    }

    @Test(arguments: [429, 503])
    func `case 560: 429 and 503 with Retry-After wait as long as they say`(status: Int) async throws {
        let trial = try await trial(random: 0.9) { .empty(status, headers: ["Retry-After": "7"], to: $0) }
        #expect(trial.sleeps == [.seconds(7), .seconds(7)])
    }

    @Test func `a Retry-After that is a date is waited for, one that is too long is not`() async throws {
        // The virtual calendar stands at Sun, 06 Nov 1994 08:49:37 GMT.
        let dated = try await trial {
            .empty(503, headers: ["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"], to: $0)
        }
        #expect(dated.sleeps == [.seconds(10), .seconds(10)])
        let long = try await trial { .empty(503, headers: ["Retry-After": "61"], to: $0) }
        #expect(long.requests == 1)
        #expect(long.status == 503)
        let endless = try await trial {
            .empty(503, headers: ["Retry-After": "99999999999999999999"], to: $0)
        }
        #expect(endless.requests == 1)
    }

    @Test(arguments: [
        (RequestError.Kind.timedOut(.connect), 3), (.timedOut(.firstByte), 3), (.timedOut(.total), 1),
        (.nameNotResolved, 3), (.cannotConnect, 3), (.proxyFailed, 3), (.connectionLost, 3), (.tlsFailed, 1),
        (.untrustedServer(.noCertificate), 1), (.cancelled, 1), (.invalidURL, 1), (.protocolError, 1),
        (.bodyTooLarge, 1), (.shutDown, 1),
    ])
    func `cases 562, 563: only failures that pass are repeated`(kind: RequestError.Kind, requests: Int)
        async throws
    {
        let trial = try await trial { request in
            throw RequestError(kind, method: request.method, url: request.url.absoluteString)
        }
        #expect(trial.requests == requests)
    }

    @Test func `cases 565, 566: the policy for lost connections looks at nothing else`() async throws {
        let lost = try await trial(policy: .connectionLost) { throw Self.losing($0) }
        #expect(lost.requests == 3)
        let status = try await trial(policy: .connectionLost) { .empty(503, to: $0) }
        #expect(status.requests == 1)
        let resolve = try await trial(policy: .connectionLost) { request in
            throw RequestError(.nameNotResolved, method: request.method, url: "https://h/")
        }
        #expect(resolve.requests == 1)
        var custom = RetryPolicy.connectionLost
        custom.limit = 3
        custom.multiplier = 4
        custom.firstDelay = .milliseconds(250)
        custom.jitter = 0
        let third = try await trial(.delete, policy: custom) { throw Self.losing($0) }
        #expect(third.sleeps == [.milliseconds(250), .seconds(1), .seconds(4)])
    }

    @Test func `the second attempt's answer is the call's, and its number is told`() async throws {
        let attempts = Shared(0)
        let trial = try await trial { request in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            guard attempt > 1 else { throw Self.losing(request) }
            return .empty(200, to: request)
        }
        #expect(trial.status == 200)
        #expect(trial.requests == 2)
        let failing = HTTPSessionManager(StubTransport(status: 503)) {
            $0.retryPolicy = Self.exact
            $0.time = VirtualTime().source()
        }
        #expect(await requestError { _ = try await failing.get("x") }?.attempt == 3)
    }

    @Test func `jitter leaves half of the wait to chance`() async throws {
        let shortest = try await trial(policy: RetryPolicy(), random: 0) { throw Self.losing($0) }
        #expect(shortest.sleeps == [.milliseconds(250), .milliseconds(500)])
        let middle = try await trial(policy: RetryPolicy(), random: 0.5) { throw Self.losing($0) }
        #expect(middle.sleeps == [.milliseconds(375), .milliseconds(750)])
    }

    @Test func `waits grow up to their limit`() async throws {
        var policy = Self.exact
        policy.limit = 5
        policy.maximumDelay = .seconds(3)
        let trial = try await trial(policy: policy) { throw Self.losing($0) }
        #expect(trial.sleeps == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(3), .seconds(3)])
    }

    @Test func `a body that can be sent once is not sent again`() async throws {
        let stream = AsyncStream<Data> { continuation in
            continuation.yield(Data("abc".utf8))
            continuation.finish()
        }
        let once = try await trial(.put, body: .stream(stream)) { throw Self.losing($0) }
        #expect(once.requests == 1)
        let bytes = try await trial(.put, body: .data(Data("abc".utf8))) { throw Self.losing($0) }
        #expect(bytes.requests == 3)
    }

    @Test func `no attempt begins behind the deadline of the call or of the policy`() async throws {
        var options = RequestOptions()
        options.timeout = .seconds(600)
        var patient = Self.exact
        patient.limit = 100
        patient.firstDelay = .seconds(20)
        patient.multiplier = 1
        let long = try await trial(policy: patient, options: options) { .empty(503, to: $0) }
        #expect(long.requests == 30)
        let minute = try await trial(policy: patient) { .empty(503, to: $0) }
        #expect(minute.requests == 3)
        patient.totalLimit = .seconds(30)
        let own = try await trial(policy: patient) { .empty(503, to: $0) }
        #expect(own.requests == 2)
    }

    @Test func `a budget is shared by all calls and fills up by calls`() async throws {
        var policy = Self.exact
        policy.budget = RetryBudget(capacity: 3, deposit: 0.5)
        let first = try await trial(policy: policy) { throw Self.losing($0) }
        #expect(first.requests == 3)
        #expect(policy.budget?.remaining == 1)
        let second = try await trial(policy: policy) { throw Self.losing($0) }
        #expect(second.requests == 2)
        #expect(policy.budget?.remaining == 0.5)
        let third = try await trial(policy: policy) { throw Self.losing($0) }
        #expect(third.requests == 2)
    }

    @Test func `the decision is told what happened and may change it within the rules`() async throws {
        var policy = Self.exact
        let seen = Shared<[Int]>([])
        policy.decision = { situation in
            seen.withLock { $0.append(situation.response?.status ?? 0) }
            return situation.failures == 1 ? .retry(after: .seconds(3)) : .giveUp
        }
        let teapot = try await trial(policy: policy) { .empty(418, to: $0) }
        #expect(teapot.sleeps == [.seconds(3)])
        #expect(seen.value == [418, 418])
        policy.decision = { _ in .retry(after: .zero) }
        let post = try await trial(.post, policy: policy) { throw Self.losing($0) }
        #expect(post.requests == 1)
        let limited = try await trial(policy: policy) { throw Self.losing($0) }
        #expect(limited.requests == 3)
    }

    @Test func `case 557: a cancelled call is not asked about`() async {
        let asked = Shared(false)
        var policy = Self.exact
        policy.decision = { _ in
            asked.withLock { $0 = true }
            return .retry(after: .zero)
        }
        let begun = Latch()
        let manager = HTTPSessionManager(
            StubTransport { request in
                begun.open()
                try? await Task.sleep(for: .seconds(600))
                throw Self.losing(request)
            }
        ) { [policy] in $0.retryPolicy = policy }
        let call = Task { try await manager.get("x") }
        await begun.wait()
        call.cancel()
        _ = await call.result
        #expect(!asked.value)
    }
}

@Suite struct RetryAfterTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(arguments: [
        ("0", Duration.zero), ("120", .seconds(120)), (" 5 ", .seconds(5)),
        ("Sun, 06 Nov 1994 08:49:38 GMT", .seconds(1)), ("Sunday, 06-Nov-94 08:50:37 GMT", .seconds(60)),
        ("Sun Nov  6 08:49:39 1994", .seconds(2)), ("Sat, 05 Nov 1994 08:49:37 GMT", .zero),
        ("Thu, 29 Feb 1996 00:00:00 GMT", .seconds(825_552_000 - 784_111_777)),
        ("Mon, 01 Jan 2001 00:00:00 GMT", .seconds(978_307_200 - 784_111_777)),
    ])
    func `seconds and the three spellings of dates are read`(text: String, expected: Duration) throws {
        #expect(try #require(RetryAfter.delay(text, now: now)) == expected)
    }

    @Test(arguments: [
        "", "-1", "1.5", "soon", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 41 Nov 1994 08:49:37 GMT",
        "99999999999999999999 GMT", "Sun, 06 Nov 99999 08:49:37 GMT",
    ])
    func `what is neither is no wait`(text: String) {
        #expect(RetryAfter.delay(text, now: now) == nil)
    }
}
