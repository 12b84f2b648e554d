import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import TestPKI
import TestServer
import Testing

@testable import NetManager

/// What a program's own hook may decide about a server, in real handshakes.
@Suite struct ServerTrustChallengeTests {
    private static let versions = PolicyIsolationTests.versions

    /// Whether a server that was refused has heard nothing: every connection is over, and none carried a byte.
    private func hasHeardNothing(_ server: TestServer) async -> Bool {
        await server.until { $0.connections > 0 && $0.openConnections == 0 && $0.requestBytes == 0 }
    }

    @Test(arguments: versions)
    func `a hook sees host, port, chain and verdict of a server that the policy accepts`(version: TLSVersion)
        async throws
    {
        let pinned = try PinnedServer(version...version)
        let hook = ChallengeHook(.use)
        let json = try await hook.manager(pinned.pinned).get(pinned.server.url())
        #expect(json == [:])
        #expect(hook.challenges.count == 1)
        let challenge = try #require(hook.challenges.first)
        #expect(challenge.host == "localhost")
        #expect(challenge.port == pinned.server.port)
        #expect(challenge.serverTrust.certificates == [pinned.certificate])
        #expect(challenge.policy == pinned.pinned)
        #expect(try challenge.verdict.get().basis == .pinnedCertificate)
        #expect(!hook.threadNames.contains("NetManager"))
    }

    @Test(
        arguments: versions,
        [ServerTrustChallenge.Answer.performDefaultHandling, .use, .cancel, .reject, .dangerouslyTrust]
    )
    func `only the dangerous answer goes beyond the policy, and a refused server sees no byte`(
        version: TLSVersion,
        answer: ServerTrustChallenge.Answer
    ) async throws {
        let pinned = try PinnedServer(version...version)
        let strict = try PinnedServer.strictAboutAnother(.certificate)
        let hook = ChallengeHook(answer)
        let manager = hook.manager(strict)
        let error = await requestError { _ = try await manager.get(pinned.server.url("/secret")) }
        #expect(hook.challenges.count == 1)
        guard case .failure(.pinMismatch)? = hook.challenges.first?.verdict else {
            Issue.record("the hook was told \(String(describing: hook.challenges.first?.verdict))")
            return
        }
        switch answer {
        case .dangerouslyTrust:
            #expect(error == nil)
            #expect(pinned.server.counters.requests == 1)
            return
        case .cancel:
            guard case .cancelled? = error?.kind else {
                Issue.record("\(String(describing: error))")
                return
            }
        case .performDefaultHandling, .use, .reject:
            guard case .pinMismatch? = error?.trustError else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.serverTrust?.certificates == [pinned.certificate])
        }
        #expect(await hasHeardNothing(pinned.server))
    }

    @Test(arguments: versions, [ServerTrustChallenge.Answer.cancel, .reject])
    func `a hook may refuse a server that the policy accepts`(
        version: TLSVersion,
        answer: ServerTrustChallenge.Answer
    ) async throws {
        let pinned = try PinnedServer(version...version)
        let hook = ChallengeHook(answer)
        let manager = hook.manager(pinned.pinned)
        // A refusal is not remembered: the hook is asked about every request.
        for round in 1...2 {
            let error = await requestError {
                _ = try await manager.post(pinned.server.url("/secret"), parameters: ["password": "x"])
            }
            #expect(hook.challenges.count == round)
            switch (answer, error?.kind) {
            case (.cancel, .cancelled?): break
            case (.reject, .untrustedServer(.untrusted(code: 50, let reason))?):
                #expect(reason.contains("rejected"))
                #expect(error?.serverTrust?.certificates == [pinned.certificate])
            default: Issue.record("\(String(describing: error))")
            }
        }
        #expect(await hasHeardNothing(pinned.server))
        #expect(pinned.server.counters.connections == 2)
    }

    @Test(arguments: versions)
    func `a kept connection is used without asking, and a new one with the same chain too`(
        version: TLSVersion
    ) async throws {
        let pinned = try PinnedServer(version...version)
        let hook = ChallengeHook(.use)
        let manager = hook.manager(pinned.pinned)
        for _ in 0..<3 { _ = try await manager.get(pinned.server.url()) }
        // The handshake before the answer, and the connection.
        #expect(pinned.server.counters.connections == 2)
        #expect(pinned.server.counters.handshakes == 1)
        pinned.server.closeConnections()
        #expect(await pinned.server.until { $0.openConnections == 0 })
        _ = try await manager.get(pinned.server.url())
        #expect(pinned.server.counters.connections == 3)
        #expect(hook.challenges.count == 1)
    }

    @Test(arguments: versions)
    func `another chain of the same server is asked about anew`(version: TLSVersion) async throws {
        let pinned = try PinnedServer(version...version)
        let hook = ChallengeHook { challenge, _ in
            challenge.serverTrust.certificates == [pinned.certificate] ? .dangerouslyTrust : .reject
        }
        let manager = hook.manager(PinnedServer.lenient)
        _ = try await manager.get(pinned.server.url())
        try pinned.server.changeTLS { $0.resumption = .refused }
        try pinned.server.present(
            .selfSigned(.server("localhost").with { $0.subject = .init(commonName: "localhost") })
        )
        pinned.server.closeConnections()
        #expect(await pinned.server.until { $0.openConnections == 0 })
        let before = pinned.server.counters.requestBytes
        let error = await requestError { _ = try await manager.get(pinned.server.url()) }
        #expect(error?.trustError != nil)
        #expect(hook.challenges.count == 2)
        #expect(pinned.server.counters.requestBytes == before)
    }

    @Test(arguments: versions)
    func `a resumed session, which shows no certificates, is asked about once the answer is forgotten`(
        version: TLSVersion
    ) async throws {
        let first = try PinnedServer(version...version)
        let second = try PinnedServer(version...version)
        var configuration = CurlTransport.Configuration()
        configuration.rememberedChallenges = 1
        let mayPass = Shared(true)
        let hook = ChallengeHook { _, _ in mayPass.value ? .use : .reject }
        let manager = hook.manager(PinnedServer.lenient, CurlTransport(configuration))
        let close: HTTPHeaders = ["Connection": "close"]
        _ = try await manager.get(first.server.url(), headers: close)
        _ = try await manager.get(first.server.url(), headers: close)
        #expect(first.server.counters.resumptions == 1)
        #expect(hook.challenges.count == 1)
        // There is room for one answer only, and now it is about another server.
        _ = try await manager.get(second.server.url(), headers: close)
        _ = try await manager.get(first.server.url(), headers: close)
        #expect(hook.challenges.count == 3)
        #expect(first.server.counters.resumptions >= 2)
        _ = try await manager.get(second.server.url(), headers: close)
        mayPass.withLock { $0 = false }
        let before = first.server.counters
        let error = await requestError { _ = try await manager.get(first.server.url(), headers: close) }
        #expect(error?.trustError != nil)
        // The server may come to count it after the client has given the connection up.
        #expect(await first.server.until { $0.resumptions == before.resumptions + 1 })
        #expect(first.server.counters.requestBytes == before.requestBytes)
    }

    @Test(arguments: versions)
    func `managers with different hooks, or none, never use each other's connections`(version: TLSVersion)
        async throws
    {
        let pinned = try PinnedServer(version...version)
        let transport = CurlTransport()
        let strict = try PinnedServer.strictAboutAnother(.publicKey)
        let url = pinned.server.url()
        let careless = ChallengeHook(.dangerouslyTrust)
        _ = try await careless.manager(strict, transport).get(url)
        let before = pinned.server.counters

        let careful = ChallengeHook(.reject)
        let rejected = await requestError { _ = try await careful.manager(strict, transport).get(url) }
        #expect(rejected?.trustError != nil)
        #expect(careful.challenges.count == 1)
        let without = HTTPSessionManager(.init(securityPolicy: strict), transport: transport)
        let refused = await requestError { _ = try await without.get(url) }
        guard case .pinMismatch? = refused?.trustError else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(pinned.server.counters.requestBytes == before.requestBytes)

        // A copy of a configuration has the same hook, and may use its connections.
        let configuration = careless.configuration(strict)
        let one = HTTPSessionManager(configuration, transport: transport)
        var copy = configuration
        copy.headers["X-A"] = "1"
        let other = HTTPSessionManager(copy, transport: transport)
        _ = try await one.get(url)
        let connections = pinned.server.counters.connections
        _ = try await other.get(url)
        #expect(pinned.server.counters.connections == connections)
    }

    @Test func `a server of another name is talked to only by the dangerous answer, and only there`()
        async throws
    {
        let pinned = try PinnedServer()
        let hook = ChallengeHook(.dangerouslyTrust)
        let transport = CurlTransport()
        let manager = hook.manager(pinned.pinned, transport)
        let url = pinned.server.url(host: "127.0.0.1")
        for _ in 0..<2 { _ = try await manager.get(url) }
        pinned.server.closeConnections()
        _ = try await manager.get(url)
        #expect(hook.challenges.count == 1)
        guard case .failure(.domainMismatch)? = hook.challenges.first?.verdict else {
            Issue.record("\(String(describing: hook.challenges.first?.verdict))")
            return
        }
        let plain = HTTPSessionManager(.init(securityPolicy: pinned.pinned), transport: transport)
        let error = await requestError { _ = try await plain.get(url) }
        guard case .domainMismatch? = error?.trustError else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `the decision of an overruled policy says so, and the observer is told once a handshake`()
        async throws
    {
        let pinned = try PinnedServer()
        let reports = Shared<[TrustReport]>([])
        let hook = ChallengeHook { _, number in number == 1 ? .performDefaultHandling : .dangerouslyTrust }
        let transport = CurlTransport()
        var configuration = hook.configuration(try PinnedServer.strictAboutAnother(.certificate))
        configuration.trustObserver = { report in reports.withLock { $0.append(report) } }
        let manager = HTTPSessionManager(configuration, transport: transport)
        let url = pinned.server.url()
        let refused: Outcome<JSONValue> = await outcome { manager.get(url, success: $0, failure: $1) }
        #expect(refused.error?.trustError != nil)
        let metrics = Shared<[TransferMetrics]>([])
        let passed: Outcome<JSONValue> = await outcome { success, failure in
            manager.get(
                url,
                success: { task, json in
                    metrics.withLock { $0 = task.metrics }
                    success(task, json)
                },
                failure: failure
            )
        }
        #expect(passed.value == [:])
        #expect(metrics.value.first?.trust?.basis == .dangerouslyOverruled)
        #expect(metrics.value.first?.trust?.auditedError != nil)
        #expect(reports.value.map(\.isAudit) == [false, true])
        #expect(reports.value.allSatisfy { $0.host == "localhost" && $0.presentedPins.count == 1 })
    }
}
