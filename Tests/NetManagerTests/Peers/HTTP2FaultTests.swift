import FoundationEssentials
import HTTPMessage
import TestPKI
import TestServer
import Testing

@testable import NetManager

/// Whatever an HTTP/2 server does, a call has one outcome, and a POST is executed once at most.
@Suite(.http2) struct HTTP2FaultTests {
    /// Sends a request with closures and returns what each of them was told, in order.
    static func outcomes(
        _ method: HTTPMethod,
        _ url: String,
        _ manager: HTTPSessionManager,
        on queue: DispatchQueue
    ) async -> [Outcome<Data>] {
        let outcomes = Shared<[Outcome<Data>]>([])
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            @Sendable func note(_ outcome: Outcome<Data>) {
                let isFirst = outcomes.withLock { outcomes in
                    outcomes.append(outcome)
                    return outcomes.count == 1
                }
                if isFirst { done.resume() }
            }
            let call = HTTPSessionManager.Call(
                method: method,
                url: url,
                parameters: method == .post ? ["a": "b"] : nil,
                headers: [:],
                options: .init()
            )
            _ = manager.start(
                call,
                as: { _ in .data },
                success: { _, data in note(.success(data)) },
                failure: { _, error in note(.failure(error)) },
                progress: nil
            )
        }
        // What might still come comes before this.
        await withCheckedContinuation { done in queue.async { done.resume() } }
        return outcomes.value
    }

    @Test(arguments: HTTP2Fault.all, [HTTPMethod.get, .post])
    func `each fault has exactly one outcome, which names the phase, and a POST is executed at most once`(
        fault: HTTP2Fault,
        method: HTTPMethod
    ) async throws {
        let peer = try await HTTP2Peer.shared.value
        let queue = DispatchQueue(label: "outcomes")
        let manager = peer.manager(CurlTransport()) {
            $0.completionQueue = queue
            // What ends by itself has time; what does not is ended, but not before a busy machine has made a connection.
            $0.timeout = fault.isSilent ? .seconds(3) : .seconds(120)
        }
        let name = "\(method)-\(fault)-\(UInt32.random(in: 0 ... .max))"
        let outcomes = await Self.outcomes(method, peer.url("/\(fault)/\(name)"), manager, on: queue)
        #expect(outcomes.count == 1)
        let error = outcomes.first?.error
        #expect(fault.explains(error?.label, of: method), "\(String(describing: error))")
        if let error {
            if !error.label.hasPrefix("too_many") { #expect(error.phase == fault.phase, "\(error)") }
            #expect(!error.description.contains("value: ["), "a field of the server's is quoted")
        } else {
            #expect(outcomes.first?.value == Data("hello".utf8))
        }
        let log = try await peer.log(name)
        #expect(log.posts <= 1)
        // A server that never ends is not listened to for ever.
        withKnownIssue("libcurl 8.5 does", isIntermittent: true) {
            #expect(log.sent < 32 << 20)
        } when: {
            HTTP2Fault.readsInterimAnswersWithoutEnd && fault.name == "interim-flood"
        }
        // The transport is as good as before.
        var patient = RequestOptions()
        patient.timeout = .seconds(120)
        try await withKnownIssue("libcurl 8.14 keeps the connection", isIntermittent: true) {
            let next = try await manager.get(peer.url("/ok/after-" + name), options: patient, as: .data)
            #expect(next == Data("hello".utf8))
        } when: {
            fault.isLeftInPool
        }
    }

    @Test(.disabled(if: HTTP2Fault.readsInterimAnswersWithoutEnd, "libcurl 8.5 keeps all interim answers"))
    func `all faults together take no more memory than a few of them`() async {
        await #expect(processExitsWith: .success) {
            let peer = try await started { try HTTP2Peer(.selfSigned(PinnedServer.certificateOptions)) }
            let transport = CurlTransport()
            let manager = peer.manager(transport) { $0.timeout = .seconds(2) }
            @Sendable func sweep(_ faults: [HTTP2Fault]) async {
                await withTaskGroup(of: Void.self) { group in
                    for fault in faults {
                        for method in [HTTPMethod.get, .post] {
                            group.addTask {
                                let url = URL(string: peer.url("/\(fault)/memory"))
                                guard let url else { return }
                                _ = try? await manager.send(HTTPRequest(method, url: url))
                            }
                        }
                    }
                }
            }
            await sweep(HTTP2Fault.usable + HTTP2Fault.goaways)
            let idle = try memory("VmRSS")
            // Writing 5 makes the present size the peak (proc(5)).
            try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
            for _ in 0..<3 { await sweep(HTTP2Fault.all) }
            let growth = try memory("VmHWM") - idle
            try #require(isSanitized || growth <= 16 << 20, "\(growth) bytes above idle")
        }
    }

    @Test(arguments: ["goaway-late", "goaway-late-closing", "goaway-graceful"])
    func `after a GOAWAY the next request goes over another connection, a POST once`(fault: String)
        async throws
    {
        let peer = try await HTTP2Peer.shared.value
        for method in [HTTPMethod.get, .post] {
            let transport = CurlTransport()
            let manager = peer.manager(transport)
            _ = try await manager.get(peer.url("/\(fault)/first"), as: .data)
            let name = "\(method)-after-\(fault)-\(UInt32.random(in: 0 ... .max))"
            let url = try #require(URL(string: peer.url("/ok/" + name)))
            let response = try await manager.send(HTTPRequest(method, url: url, body: nil))
            #expect(response.body == Data("hello".utf8))
            #expect(try await peer.log(name).executed == 1)
        }
    }

    @Test func `reads that a server did not look at are sent again, among many on one connection`()
        async throws
    {
        let peer = try await HTTP2Peer.shared.value
        let manager = peer.manager(CurlTransport()) {
            $0.retryPolicy = RetryPolicy()
            $0.retryPolicy?.firstDelay = .milliseconds(1)
            $0.retryPolicy?.budget = nil
        }
        let bodies = try await withThrowingTaskGroup(of: Data.self) { group in
            let run = UInt32.random(in: 0 ... .max)
            for number in 0..<24 {
                let fault = ["ok", "refused-once", "ok", "goaway-early-once"][number % 4]
                group.addTask {
                    try await manager.get(peer.url("/\(fault)/\(run)-\(number)"), as: .data)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies == [Data](repeating: Data("hello".utf8), count: 24))
    }

    @Test func `an upload that may not send a byte is ended by the time, in the phase of sending`()
        async throws
    {
        let peer = try await HTTP2Peer.shared.value
        let manager = peer.manager(CurlTransport()) { $0.timeout = .seconds(3) }
        let name = "zero-\(UInt32.random(in: 0 ... .max))"
        var patient = RequestOptions()
        patient.timeout = .seconds(60)
        _ = try await manager.get(peer.url("/window-zero/x"), options: patient, as: .data)
        let url = try #require(URL(string: peer.url("/ok/" + name)))
        let error = await requestError {
            _ = try await manager.send(HTTPRequest(.post, url: url, body: .data(Data(count: 100_000))))
        }
        #expect(error?.label == "timed_out_total")
        #expect(error?.phase == .send)
        let log = try await peer.log(name)
        #expect(log.arrived == 1)
        #expect(log.executed == 0)
        #expect(log.received == 0)
        _ = try await manager.get(peer.url("/ok/x"), options: patient, as: .data)
    }

    @Test(arguments: [false, true])
    func `an upload whose window is not opened again is held back and ended by the time`(isStream: Bool)
        async throws
    {
        let peer = try await HTTP2Peer.shared.value
        let manager = peer.manager(CurlTransport()) { $0.timeout = .seconds(3) }
        let name = "stall-\(UInt32.random(in: 0 ... .max))"
        let url = try #require(URL(string: peer.url("/stall/" + name)))
        let drawn = Shared(0)
        let pieces = AsyncStream<Data> {
            drawn.withLock { $0 += 1 }
            return Data(count: 65_536)
        }
        let error = await requestError {
            _ = try await manager.send(
                HTTPRequest(.post, url: url, body: isStream ? .stream(pieces) : .data(Data(count: 8 << 20)))
            )
        }
        #expect(error?.label == "timed_out_total")
        #expect(error?.phase == .send)
        let log = try await peer.log(name)
        #expect(log.executed == 0)
        #expect(log.received == 65_535)
        // What the channel and libcurl hold, of a stream without end.
        #expect(drawn.value < 40)
    }
}
