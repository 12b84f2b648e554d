import Dispatch
import FoundationEssentials
import Glibc
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// Managers and transports that come and go while their calls are in every state: each call ends once, and nobody is left
/// with freed memory.
///
/// What they look for shows itself seldom, as the end of the process or as a call that never ends; they run for a moment each
/// time, and longer when `LIFETIME_ROUNDS` says so.
@Suite struct LifetimeTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["LIFETIME_ROUNDS"].flatMap { Int($0) } ?? 1

    /// Numbers that are the same in each run.
    private struct Chance {
        var state: UInt64

        mutating func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
    }

    private func server() throws -> TestServer {
        try TestServer(options: ServerOptions().with { $0.recordsRequests = false }) { request in
            switch request.path {
            case "/redirect": .status(302).header("Location", "/")
            case "/long": .bytes(1 << 20)
            case "/busy": .status(503)
            default: .json("{}")
            }
        }
    }

    private static let paths = ["/", "/redirect", "/long", "/busy"]

    /// Runs a closure many times, some at a time.
    private func repeatedly(
        _ count: Int,
        atOnce: Int = 16,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        let count = isSanitized ? count / 4 : count
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<atOnce {
                group.addTask {
                    for number in stride(from: worker, to: count * Self.rounds, by: atOnce) {
                        try await body(number)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// One outcome of a closure call; a second one traps.
    private static func ended(
        _ start: (@escaping @Sendable () -> Void) -> Void
    ) async {
        await withCheckedContinuation { continuation in start { continuation.resume() } }
    }

    @Test func `a manager may go in its own completion closure, with its transport`() async throws {
        let server = try server()
        let base = server.url("")
        try await repeatedly(100) { number in
            let path = Self.paths[number % Self.paths.count]
            await Self.ended { done in
                let manager = HTTPSessionManager(transport: CurlTransport())
                manager.get(base + path, as: .data) { [manager] _, _ in
                    withExtendedLifetime(manager) {}
                    done()
                } failure: { [manager] _, _ in
                    withExtendedLifetime(manager) {}
                    done()
                }
            }
        }
        withExtendedLifetime(server) {}
    }

    @Test func `a transport may be shut down, and go, at any moment of its calls`() async throws {
        let server = try server()
        let base = server.url("")
        try await repeatedly(100) { number in
            var chance = Chance(state: UInt64(number))
            let transport = CurlTransport()
            let manager = HTTPSessionManager(transport: transport)
            let turns = chance.below(30)
            let kind = chance.below(3)
            await withTaskGroup(of: Void.self) { group in
                for call in 0..<3 {
                    let path = Self.paths[chance.below(Self.paths.count)]
                    if call == 0 {
                        group.addTask {
                            await Self.ended { done in
                                manager.get(base + path, as: .data) { _, _ in
                                    done()
                                } failure: { _, _ in
                                    done()
                                }
                            }
                        }
                    } else {
                        group.addTask { _ = try? await manager.get(base + path, as: .data) }
                    }
                }
                group.addTask {
                    for _ in 0..<turns { await Task.yield() }
                    switch kind {
                    case 0: transport.shutdown()
                    case 1: await transport.shutdown(deadline: .milliseconds(1))
                    default: transport.closeIdleConnections()
                    }
                    // On its own thread too.
                    await withTaskExecutorPreference(transport.engine) { transport.shutdown() }
                }
            }
        }
        withExtendedLifetime(server) {}
    }

    @Test func `tasks may be suspended, resumed and cancelled by several threads`() async throws {
        let server = try server()
        let base = server.url("")
        let transport = CurlTransport()
        let manager = HTTPSessionManager(transport: transport)
        try await repeatedly(80) { number in
            var chance = Chance(state: UInt64(number))
            let path = Self.paths[chance.below(Self.paths.count)]
            let isCancelled = chance.below(2) == 0
            let orders = (0..<3).map { _ in (0..<8).map { _ in chance.below(3) } }
            await Self.ended { done in
                let task = manager.get(base + path, as: .data) { _, _ in
                    done()
                } failure: { _, _ in
                    done()
                }
                let group = DispatchGroup()
                for thread in orders {
                    DispatchQueue.global().async(group: group) {
                        for order in thread {
                            switch order {
                            case 0: task.suspend()
                            case 1: task.resume()
                            default: task.priority = .high
                            }
                        }
                    }
                }
                group.notify(queue: .global()) {
                    if isCancelled { task.cancel() }
                    task.resume()
                }
            }
        }
        withExtendedLifetime(server) {}
    }

    @Test func `streams and uploads may be dropped with their transport at any moment`() async throws {
        let server = try server()
        let base = server.url("")
        try await repeatedly(80) { number in
            var chance = Chance(state: UInt64(number))
            let url = try #require(URL(string: base + "/long"))
            let turns = chance.below(30)
            let isUpload = chance.below(2) == 0
            let call = Task {
                let transport = CurlTransport()
                guard !isUpload else {
                    let (pieces, source) = AsyncStream<Data>.makeStream()
                    source.yield(Data(count: 100_000))
                    _ = try await transport.send(
                        HTTPRequest(.post, url: url, body: .stream(pieces)),
                        context: TransportContext()
                    )
                    source.finish()
                    return
                }
                var iterator = try await transport.send(HTTPRequest(url: url), context: TransportContext())
                    .body.makeAsyncIterator()
                // The transport goes here, but for the body.
                _ = try await iterator.next()
            }
            for _ in 0..<turns { await Task.yield() }
            if isUpload || number.isMultiple(of: 3) { call.cancel() }
            _ = await call.result
        }
        withExtendedLifetime(server) {}
    }
}
