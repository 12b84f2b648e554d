import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import TestPKI
import TestServer
import Testing

@testable import NetManager

/// Requests that wait for the answer of a program's hook.
@Suite struct ServerTrustChallengeWaitTests {
    @Test func `a waiting hook holds up nobody else on the engine`() async throws {
        let asking = try PinnedServer()
        let other = try PinnedServer()
        let transport = CurlTransport()
        let isAsked = Latch()
        let mayAnswer = Latch()
        let hook = ChallengeHook { _, _ in
            isAsked.open()
            await mayAnswer.wait()
            return .use
        }
        let manager = hook.manager(asking.pinned, transport)
        let url = asking.server.url()
        let call = Task { try await manager.get(url) }
        await isAsked.wait()
        for _ in 0..<3 { _ = try await transport.fetch(other.server.url(), policy: other.pinned) }
        #expect(asking.server.counters.requestBytes == 0)
        mayAnswer.open()
        #expect(try await call.value == [:])
    }

    @Test func `cancelling ends the waiting and the hook's task, and nothing is sent`() async throws {
        let pinned = try PinnedServer()
        let isAsked = Latch()
        let never = Latch()
        let wasCancelled = Latch()
        let hook = ChallengeHook { _, _ in
            isAsked.open()
            await never.wait()
            if Task.isCancelled { wasCancelled.open() }
            return .use
        }
        let transport = CurlTransport()
        let manager = hook.manager(pinned.pinned, transport)
        let url = pinned.server.url()
        await hook.cancelCall(manager, url, once: isAsked)
        await wasCancelled.wait()
        #expect(await pinned.server.until { $0.openConnections == 0 })
        #expect(pinned.server.counters.requestBytes == 0)
        // Its answer came too late to count.
        let strict = ChallengeHook(.reject).manager(pinned.pinned, transport)
        #expect(await requestError { _ = try await strict.get(url) }?.trustError != nil)
    }

    @Test(arguments: [false, true])
    func `the deadline passes while a hook that never answers is waited for`(isStream: Bool) async throws {
        let pinned = try PinnedServer()
        let end = Latch()
        // It does not even notice that it is cancelled.
        let hook = ChallengeHook { _, _ in
            await Task { await end.wait() }.value
            return .use
        }
        let manager = hook.manager(pinned.pinned, timeout: .milliseconds(300))
        let request = HTTPRequest(url: try #require(URL(string: pinned.server.url())))
        let error = await requestError {
            if isStream {
                try await manager.stream(request) { _ in }
            } else {
                _ = try await manager.send(request)
            }
        }
        guard case .timedOut(.total)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(pinned.server.counters.requestBytes == 0)
        end.open()
    }

    @Test func `the time of a hook is not the handshake's`() async throws {
        let pinned = try PinnedServer()
        let clock = ContinuousClock()
        let hook = ChallengeHook { _, _ in
            try? await clock.sleep(for: .milliseconds(400))
            return .use
        }
        var configuration = hook.configuration(pinned.pinned)
        configuration.timeouts.tls = .milliseconds(300)
        configuration.timeouts.connect = .milliseconds(300)
        // A machine that is busy may take longer for a handshake; then the hook was asked all the same.
        let manager = HTTPSessionManager(configuration, transport: CurlTransport())
        for _ in 0..<20 {
            do {
                _ = try await manager.get(pinned.server.url())
                return
            } catch let error as RequestError {
                guard case .timedOut = error.kind else { throw error }
            }
        }
        Issue.record("twenty handshakes took longer than 300 milliseconds each")
    }

    @Test func `shutting down ends the waiting`() async throws {
        let pinned = try PinnedServer()
        let isAsked = Latch()
        let never = Latch()
        let hook = ChallengeHook { _, _ in
            isAsked.open()
            await never.wait()
            return .use
        }
        let transport = CurlTransport()
        let manager = hook.manager(pinned.pinned, transport)
        let url = pinned.server.url()
        let call = Task { await requestError { _ = try await manager.get(url) } }
        await isAsked.wait()
        transport.shutdown()
        guard case .shutDown? = await call.value?.kind else {
            Issue.record("\(String(describing: await call.value))")
            return
        }
    }

    @Test func `requests at once share one question`() async throws {
        let pinned = try PinnedServer()
        let all = 20
        let hook = ChallengeHook { _, _ in
            // Those that do not lead wait in the gate or with the question.
            _ = await pinned.server.until { $0.failedHandshakes > 0 }
            return .use
        }
        let manager = hook.manager(pinned.pinned)
        let url = pinned.server.url()
        let answers = try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<all { group.addTask { try await manager.get(url) } }
            return try await group.reduce(into: 0) { $0 += $1 == [:] ? 1 : 0 }
        }
        #expect(answers == all)
        #expect(hook.challenges.count == 1)
    }

    @Test func `a body that can be sent once is sent once, after the answer`() async throws {
        let pinned = try PinnedServer { .text(String(decoding: $0.body, as: UTF8.self)) }
        let hook = ChallengeHook(.use)
        let manager = hook.manager(pinned.pinned)
        let pieces = AsyncStream<Data> { continuation in
            for text in ["one ", "two ", "three"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        let url = try #require(URL(string: pinned.server.url()))
        let response = try await manager.send(HTTPRequest(.post, url: url, body: .stream(pieces)))
        #expect(String(decoding: response.body, as: UTF8.self) == "one two three")
        #expect(hook.challenges.count == 1)
        #expect(pinned.server.counters.requests == 1)
    }

    @Test func `a server that shows another chain each time is refused in the end`() async throws {
        let pinned = try PinnedServer()
        try pinned.server.changeTLS { $0.resumption = .refused }
        let hook = ChallengeHook { _, _ in
            let options = CertificateOptions.server("localhost").with {
                $0.subject = .init(commonName: "localhost")
            }
            guard (try? pinned.server.present(.selfSigned(options))) != nil else { return .cancel }
            return .use
        }
        let error = await requestError {
            _ = try await hook.manager(PinnedServer.lenient).get(pinned.server.url())
        }
        guard case .untrusted(code: 50, let reason)? = error?.trustError else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("8 handshakes"))
        #expect(hook.challenges.count == ServerTrustQuestion.limit)
        #expect(pinned.server.counters.requestBytes == 0)
    }

    @Test func `a tunnel through a proxy is made anew after the answer`() async throws {
        let pinned = try PinnedServer()
        let peer = try ProxyPeer()
        let hook = ChallengeHook(.use)
        var configuration = hook.configuration(pinned.pinned)
        configuration.connection.proxy = .http(host: "localhost", port: peer.port)
        let manager = HTTPSessionManager(configuration, transport: CurlTransport())
        #expect(try await manager.get(pinned.server.url()) == [:])
        #expect(peer.passages.count == 2)
        #expect(hook.challenges.count == 1)
        #expect(pinned.server.counters.requests == 1)
    }

    @Test func `many requests over HTTP/2 ask once and share the connection`() async throws {
        guard NginxPeer.isInstalled else { return }
        let options = CertificateOptions.server("localhost").with {
            $0.subject = .init(commonName: "localhost")
        }
        let identity = try Identity.selfSigned(options)
        let nginx = try NginxPeer(.init(identity: identity))
        let policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try Certificate(der: identity.certificateDER)],
            allowInvalidCertificates: true
        )
        let hook = ChallengeHook(.use)
        let manager = hook.manager(policy)
        let url = try #require(URL(string: nginx.url("/")))
        let versions = try await withThrowingTaskGroup(of: HTTPVersion?.self) { group in
            for _ in 0..<24 { group.addTask { try await manager.send(HTTPRequest(url: url)).head.version } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(versions.count == 24 && versions.allSatisfy { $0 == .http2 })
        #expect(hook.challenges.count == 1)
    }
}
