import Glibc
import SeededRandom
import TestServer
import Testing

@testable import NetManager

/// Many calls that end in every way at once, in a process of their own, whose descriptors can be counted.
@Suite struct StressTests {
    @Test func `report 49, case 509: 10000 calls end once each, and nothing is left over`() async {
        await #expect(processExitsWith: .success) {
            // A sanitizer makes each call ten times slower.
            let calls = isSanitized ? 2_000 : 10_000
            // Once to make what lives as long as the process, such as the pools of threads.
            _ = try await Stress(seed: 1).run(calls: 500)
            let before = Census()
            let result = try await Stress(seed: 2).run(calls: calls)
            #expect(result.ended == calls)
            #expect(result.twice == 0)
            // Every way of ending has been gone.
            #expect(
                result.labels.isSuperset(of: ["success", "cancelled", "connection_lost", "timed_out_total"])
            )
            let after = await Census.settled(downTo: before)
            #expect(after.descriptors <= before.descriptors)
            #expect(after.engines <= before.engines)
            #expect(after.threads <= before.threads + Census.poolThreads)
            // A handle of libcurl's has 5 KiB at least: this many cannot have been left by the calls.
            #expect(isSanitized || after.memory - before.memory < 3 * calls << 10, "\(before) \(after)")
        }
    }
}

/// What the process holds.
private struct Census {
    var descriptors: Int
    /// Threads of engines.
    var engines: Int
    /// All threads.
    var threads: Int
    /// Resident bytes.
    var memory: Int

    /// By so many threads the pools of Dispatch and Swift may differ from one moment to another.
    static let poolThreads = 16

    init() {
        let files = FileManager.default
        descriptors = (try? files.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? .max
        let threads = (try? files.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        self.threads = threads.count
        memory = (try? NetManagerTests.memory("VmRSS")) ?? .max
        engines = threads.count { thread in
            let name = files.contents(atPath: "/proc/self/task/\(thread)/comm") ?? Data()
            return String(decoding: name, as: UTF8.self).hasPrefix("NetManager")
        }
    }

    /// Looks until nothing is left over, and gives up after some seconds: threads end when they are told to, and not
    /// at once.
    static func settled(downTo level: Census) async -> Census {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            let now = Census()
            let isDown =
                now.descriptors <= level.descriptors && now.engines <= level.engines
                && now.threads <= level.threads + poolThreads
            if isDown || ContinuousClock.now > deadline { return now }
            await Task.yield()
        }
    }
}

/// Calls of random kinds against random faults; the same seed gives the same calls.
private struct Stress {
    struct Result: Sendable {
        var ended = 0
        var twice = 0
        var labels: Set<String> = []
    }

    /// The way that a call goes.
    private struct Plan: Sendable {
        var path: String
        var method: HTTPMethod
        var timeout: Duration
        /// After how many turns the call is cancelled; nil for never.
        var cancelsAfter: Int?
        var isStream: Bool
        var retries: Bool
    }

    private static let faults =
        Fault.unusable + Fault.usable + [.silence, .endlessRedirect, .unsolicitedResponse]

    let seed: UInt64

    func run(calls: Int) async throws -> Result {
        let options = ServerOptions().with { $0.recordsRequests = false }
        let server = try TestServer(options: options) { request in
            guard let index = Int(request.path.dropFirst()), Self.faults.indices.contains(index) else {
                return .text("hello")
            }
            return Self.faults[index].answer
        }
        defer { server.stop() }
        let transport = CurlTransport()
        defer { transport.shutdown() }
        let queue = DispatchQueue(label: "outcomes")
        let manager = HTTPSessionManager(transport) { $0.completionQueue = queue }
        let result = Shared(Result())
        var random = SplitMix64(seed: seed)
        let plans = (0..<calls).map { _ in Self.plan(&random) }
        await withTaskGroup(of: Void.self) { group in
            // A hundred at a time.
            for (number, plan) in plans.enumerated() {
                if number >= 100 { await group.next() }
                group.addTask { await Self.carryOut(plan, manager, server.url(plan.path), result) }
            }
        }
        await withCheckedContinuation { done in queue.async { done.resume() } }
        return result.value
    }

    private static func plan(_ random: inout SplitMix64) -> Plan {
        // A third of the answers is in order.
        let index = Int.random(in: 0..<(faults.count + faults.count / 2), using: &random)
        return Plan(
            path: "/\(index)",
            method: Bool.random(using: &random) ? .get : .post,
            timeout: .milliseconds(Int.random(in: 0..<4, using: &random) == 0 ? 20 : 1_000),
            cancelsAfter: Int.random(in: 0..<3, using: &random) == 0
                ? Int.random(in: 0..<50, using: &random) : nil,
            isStream: Int.random(in: 0..<4, using: &random) == 0,
            retries: Bool.random(using: &random)
        )
    }

    private static func carryOut(
        _ plan: Plan,
        _ manager: HTTPSessionManager,
        _ url: String,
        _ result: Shared<Result>
    ) async {
        var options = RequestOptions()
        options.timeout = plan.timeout
        if plan.retries {
            var policy = RetryPolicy()
            policy.firstDelay = .milliseconds(1)
            options.retryPolicy = policy
        }
        @Sendable func note(_ label: String) {
            result.withLock { result in
                result.ended += 1
                result.labels.insert(label)
            }
        }
        if plan.isStream, let target = URL(string: url) {
            let request = HTTPRequest(plan.method, url: target)
            let task = Task { [options] in
                do {
                    try await manager.stream(request, options: options) { _ = try await $0.body.collect() }
                    note("success")
                } catch let error as RequestError {
                    note(error.label)
                } catch {
                    note("cancelled")
                }
            }
            if let turns = plan.cancelsAfter {
                for _ in 0..<turns { await Task.yield() }
                task.cancel()
            }
            await task.value
            return
        }
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let count = Shared(0)
            @Sendable func end(_ label: String) {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                guard number == 1 else { return result.withLock { $0.twice += 1 } }
                note(label)
                done.resume()
            }
            let call = HTTPSessionManager.Call(
                method: plan.method,
                url: url,
                parameters: nil,
                headers: [:],
                options: options
            )
            let task = manager.start(
                call,
                as: { _ in .data },
                success: { _, _ in end("success") },
                failure: { _, error in end(error.label) },
                progress: nil
            )
            guard let turns = plan.cancelsAfter else { return }
            Task {
                for _ in 0..<turns { await Task.yield() }
                task.cancel()
            }
        }
    }
}
