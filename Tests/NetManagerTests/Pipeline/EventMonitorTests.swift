import Dispatch
import TestServer
import Testing

@testable import NetManager

/// What monitors are told, in which order, and where.
@Suite struct EventMonitorTests {
    /// Writes down each event in a word or two.
    private final class Diary: EventMonitor {
        let lines = Shared<[String]>([])
        let threads = Shared<Set<String>>([])
        let ends = Shared<[CallEnd]>([])
        let attempts = Shared<[AttemptEnd]>([])
        let attemptIsOver = Latch()

        private func write(_ line: String) {
            let thread = nameOfThread()
            threads.withLock { _ = $0.insert(thread) }
            lines.withLock { $0.append(line) }
        }

        func callStarted(_ call: MonitoredCall) { write("call") }
        func attemptStarted(_ attempt: Int, request: HTTPRequest, of call: MonitoredCall) {
            write("attempt \(attempt) \(request.url.path)")
        }
        func attemptEnded(_ end: AttemptEnd, of call: MonitoredCall) {
            attempts.withLock { $0.append(end) }
            write("ended \(end.attempt) \(end.error?.label ?? end.head.map { "\($0.status)" } ?? "nothing")")
            attemptIsOver.open()
        }
        func retryScheduled(after delay: Duration, situation: RetrySituation, of call: MonitoredCall) {
            write("retry \(situation.failures)")
        }
        func redirected(by response: HTTPResponse.Head, to request: HTTPRequest, of call: MonitoredCall) {
            write("redirect \(response.status) \(request.url.path)")
        }
        func trustRefused(_ error: TrustError, request: HTTPRequest, of call: MonitoredCall) {
            write("refused")
        }
        func callEnded(_ end: CallEnd, of call: MonitoredCall) {
            ends.withLock { $0.append(end) }
            write("over \(end.error?.label ?? end.head.map { "\($0.status)" } ?? "nothing")")
        }
    }

    /// A manager over connections of its own; its monitor's queue is awaited before the diary is read.
    private func manager(_ diary: Diary, policy: SecurityPolicy = .default) -> HTTPSessionManager {
        HTTPSessionManager(CurlTransport()) {
            $0.eventMonitors = [diary]
            $0.securityPolicy = policy
        }
    }

    private func told(_ manager: HTTPSessionManager) async {
        await withCheckedContinuation { done in manager.eventQueue.async { done.resume() } }
    }

    @Test func `a redirect and its goal are two attempts of one call`() async throws {
        let server = try TestServer { request in
            request.path == "/a" ? .redirect(to: "/b") : .json("1")
        }
        let diary = Diary()
        let manager = manager(diary)
        let response = try await manager.send(HTTPRequest(url: try #require(URL(string: server.url("/a")))))
        #expect(response.redirects.map(\.status) == [302])
        await told(manager)
        #expect(
            diary.lines.value == [
                "call", "attempt 1 /a", "ended 1 302", "redirect 302 /b", "attempt 2 /b", "ended 2 200",
                "over 200",
            ]
        )
        #expect(diary.ends.value.first?.metrics.map(\.attempt) == [1, 2])
        #expect(diary.attempts.value.allSatisfy { $0.metrics?.remotePort == server.port })
    }

    @Test func `a retry is told between its attempts`() async throws {
        let count = Shared(0)
        let server = try TestServer { _ in
            count.withLock { $0 += 1 }
            return count.value == 1 ? .status(503) : .json("1")
        }
        let diary = Diary()
        let manager = manager(diary)
        manager.updateConfiguration {
            $0.retryPolicy = RetryPolicy()
            $0.time = VirtualTime().source()
        }
        _ = try await manager.get(server.url())
        await told(manager)
        #expect(
            diary.lines.value == [
                "call", "attempt 1 /", "ended 1 503", "retry 1", "attempt 2 /", "ended 2 200", "over 200",
            ]
        )
    }

    @Test func `a refused server is told, and so is the end of the call`() async throws {
        let server = try PinnedServer()
        let diary = Diary()
        let manager = manager(diary, policy: try PinnedServer.strictAboutAnother(.publicKey))
        let ended: Outcome<JSONValue> = await outcome { success, failure in
            manager.get(server.server.url(), success: success, failure: failure)
        }
        #expect(ended.error?.label == "untrusted_server")
        await told(manager)
        #expect(
            diary.lines.value
                == ["call", "attempt 1 /", "refused", "ended 1 untrusted_server", "over untrusted_server"]
        )
    }

    @Test func `the attempt of a stream ends with its content`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("late").holdingBody(until: gate) }
        let diary = Diary()
        let manager = manager(diary)
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        try await manager.stream(request) { response in
            await told(manager)
            #expect(diary.lines.value == ["call", "attempt 1 /"])
            gate.open()
            _ = try await response.body.collect()
        }
        await told(manager)
        #expect(diary.lines.value == ["call", "attempt 1 /", "ended 1 200", "over 200"])
        #expect(diary.attempts.value.first?.metrics?.bodyBytesReceived == 4)
    }

    @Test func `a stream that breaks ends its attempt with the error`() async throws {
        let server = try TestServer { _ in Fault.truncatedBody(declaring: 100, sending: 10).answer }
        let diary = Diary()
        let manager = manager(diary)
        let request = HTTPRequest(url: try #require(URL(string: server.url())))
        _ = await requestError {
            try await manager.stream(request) { _ = try await $0.body.collect() }
        }
        await diary.attemptIsOver.wait()
        await told(manager)
        #expect(
            diary.lines.value
                == ["call", "attempt 1 /", "ended 1 connection_lost", "over connection_lost"]
        )
    }

    @Test func `monitors run off the engine's thread and on the queue of events`() async throws {
        let server = try TestServer { _ in .json("1") }
        let engineThreads = Shared<Set<String>>([])
        let diary = Diary()
        let transport = CurlTransport()
        let manager = HTTPSessionManager(transport) { $0.eventMonitors = [diary] }
        _ = try await manager.get(server.url())
        await told(manager)
        try await withTaskExecutorPreference(transport.executor) {
            let thread = nameOfThread()
            engineThreads.withLock { _ = $0.insert(thread) }
            try Task.checkCancellation()
        }
        #expect(!engineThreads.value.isEmpty)
        #expect(!diary.threads.value.isEmpty)
        #expect(diary.threads.value.isDisjoint(with: engineThreads.value))
    }

    @Test func `a log has one line for each call and no secrets`() async throws {
        let server = try TestServer { request in
            request.path == "/gone" ? .status(404) : .json(#"{"token":"t0p"}"#)
        }
        let lines = Shared<[String]>([])
        let manager = HTTPSessionManager(CurlTransport()) {
            $0.eventMonitors = [RequestLog { line in lines.withLock { $0.append(line) } }]
            $0.headers = ["Authorization": "Bearer t0p"]
        }
        _ = try await manager.get(server.url("/x", host: "user:t0p@127.0.0.1"), parameters: ["key": "t0p"])
        _ = await requestError { _ = try await manager.get(server.url("/gone")) }
        await told(manager)
        #expect(lines.value.count == 2)
        let first = try #require(lines.value.first)
        #expect(first.hasPrefix("GET http://127.0.0.1:\(server.port)/x 200 in "))
        #expect(first.contains(", 15 bytes from 127.0.0.1:\(server.port), HTTP/1.1"))
        #expect(lines.value.last?.contains("/gone failed in ") == true)
        #expect(lines.value.last?.contains("status_4xx") == true)
        #expect(!lines.value.joined().contains("t0p"))
    }

    @Test func `a log tells which server was refused and why, without the query`() async throws {
        let server = try PinnedServer()
        let lines = Shared<[String]>([])
        let manager = HTTPSessionManager(CurlTransport()) {
            $0.eventMonitors = [RequestLog { line in lines.withLock { $0.append(line) } }]
        }
        let error = await requestError {
            _ = try await manager.get(server.server.url("/x"), parameters: ["key": "t0p"])
        }
        await told(manager)
        let refusal = try #require(error?.trustError)
        #expect(lines.value.first == "GET \(server.server.url("/x")) server refused: \(refusal)")
        #expect(lines.value.last?.contains("/x failed in ") == true)
        #expect(lines.value.count == 2)
        #expect(!lines.value.joined().contains("t0p"))
    }

    @Test func `a log writes one line for a pin that does not match, with what was presented`() async throws {
        let server = try PinnedServer()
        let lines = Shared<[String]>([])
        let manager = HTTPSessionManager(CurlTransport()) {
            $0.eventMonitors = [RequestLog { line in lines.withLock { $0.append(line) } }]
            $0.securityPolicy = SecurityPolicy(
                pinningMode: .publicKey,
                pinnedPublicKeys: PublicKeyPin(digest: Data(repeating: 7, count: 32)).map { [$0] } ?? [],
                allowInvalidCertificates: true
            )
        }
        let error = await requestError { _ = try await manager.get(server.server.url("/x")) }
        await told(manager)
        guard case .pinMismatch(let presented, _) = error?.trustError else {
            throw Unexpected(what: "\(String(describing: error))")
        }
        let line = try #require(lines.value.first)
        let pin = try #require(presented.first)
        #expect(!line.contains("\n") && line.contains(pin.description))
    }

    @Test func `case 515: a task has the figures of its attempts`() async throws {
        let server = try TestServer { request in
            request.path == "/a" ? .redirect(to: "/b") : .json("1")
        }
        let manager = HTTPSessionManager(CurlTransport())
        let metrics: [TransferMetrics] = await withCheckedContinuation { done in
            manager.get(
                server.url("/a"),
                success: { task, _ in done.resume(returning: task.metrics) },
                failure: { task, _ in done.resume(returning: []) }
            )
        }
        #expect(metrics.map(\.attempt) == [1, 2])
        #expect(metrics.map(\.isConnectionReused) == [false, true])
    }
}

/// What tells the calling thread from others.
private func nameOfThread() -> String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? "?"
}
