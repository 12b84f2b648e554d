import Dispatch
import NetManager
import Testing

/// What the closure style promises: one outcome, on the right queue.
@Suite struct ClosureTests {
    private static let key = DispatchSpecificKey<String>()

    @Test func `case 508: closures run on the queue that is set`() async {
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: Self.key, value: "mine")
        let good = HTTPSessionManager(StubTransport(json: "{}")) { $0.completionQueue = queue }
        let bad = HTTPSessionManager(StubTransport(status: 500)) { $0.completionQueue = queue }
        let success = await withCheckedContinuation { done in
            good.get(
                "x",
                success: { _, _ in done.resume(returning: DispatchQueue.getSpecific(key: Self.key)) }
            )
        }
        let failure = await withCheckedContinuation { done in
            let failed: @Sendable (RequestTask, RequestError) -> Void = { _, _ in
                done.resume(returning: DispatchQueue.getSpecific(key: Self.key))
            }
            bad.get("x", success: nil, failure: failed)
        }
        let early = await withCheckedContinuation { done in
            let failed: @Sendable (RequestTask, RequestError) -> Void = { _, _ in
                done.resume(returning: DispatchQueue.getSpecific(key: Self.key))
            }
            good.get("foo://x", success: nil, failure: failed)
        }
        #expect(success == "mine")
        #expect(failure == "mine")
        #expect(early == "mine")
    }

    @Test func `case 506: a call without closures harms nobody`() async throws {
        let gate = Latch()
        let stub = StubTransport { request in
            gate.open()
            return .json("{}", to: request)
        }
        let manager = HTTPSessionManager(stub)
        manager.get("x", success: nil)
        manager.get("foo://x", success: nil)
        manager.request(.get, signature: nil, api: "x")
        await gate.wait()
        _ = try await manager.get("y")
    }

    @Test func `case 478: managers are distinct objects`() {
        #expect(HTTPSessionManager(StubTransport()) !== HTTPSessionManager(StubTransport()))
    }

    @Test func `case 511: dropping the manager leaves its call one outcome`() async {
        let gate = Latch()
        let stub = StubTransport { request in
            await gate.wait()
            return .json("1", to: request)
        }
        let ended: Outcome<JSONValue> = await outcome { success, failure in
            var manager: HTTPSessionManager? = HTTPSessionManager(stub)
            manager?.get("x", success: success, failure: failure)
            manager = nil
            gate.open()
        }
        #expect(ended.value == 1)
    }

    @Test func `case 526: cancelling ends a call that waits, as cancelled`() async {
        let begun = Latch()
        let stub = StubTransport { request in
            begun.open()
            try await Task.sleep(for: .seconds(600))
            return .json("1", to: request)
        }
        let manager = HTTPSessionManager(stub)
        let task = Shared<RequestTask?>(nil)
        async let ended: Outcome<JSONValue> = outcome { success, failure in
            let started = manager.get("x", success: success, failure: failure)
            task.withLock { $0 = started }
        }
        await begun.wait()
        task.value?.cancel()
        guard case .cancelled? = await ended.error?.kind else {
            Issue.record("not cancelled")
            return
        }
        #expect(task.value?.isFinished == true)
    }

    @Test func `a call that is cancelled before its closures are called never succeeds`() async {
        let queue = DispatchQueue(label: "test")
        let manager = HTTPSessionManager(StubTransport(json: "1")) { $0.completionQueue = queue }
        let ended: Outcome<JSONValue> = await outcome { success, failure in
            // Nothing can be delivered while this block holds the queue.
            queue.sync { manager.get("x", success: success, failure: failure).cancel() }
        }
        guard case .cancelled? = ended.error?.kind else {
            Issue.record("\(ended)")
            return
        }
    }

    @Test func `cancelling twice, or after the outcome, changes nothing`() async {
        let manager = HTTPSessionManager(StubTransport(json: "1"))
        let value = await withCheckedContinuation { done in
            manager.get("x") { task, json in
                task.cancel()
                task.cancel()
                done.resume(returning: task.isCancelled ? .null : json)
            } failure: { _, _ in
                done.resume(returning: .null)
            }
        }
        #expect(value == 1)
    }

    @Test func `report 49, case 557: under cancel races each call ends once and is not sent again after`()
        async
    {
        let attempts = Shared(0)
        let stub = StubTransport { request in
            attempts.withLock { $0 += 1 }
            await Task.yield()
            throw RequestError(.connectionLost, method: request.method, url: request.url.absoluteString)
        }
        var policy = RetryPolicy()
        policy.limit = 3
        policy.firstDelay = .zero
        policy.budget = nil
        policy.decision = { _ in .retry(after: .zero) }
        let manager = HTTPSessionManager(stub) { [policy] in $0.retryPolicy = policy }
        let cancelled = Shared(0)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<2000 {
                group.addTask {
                    let ended: Outcome<JSONValue> = await outcome { success, failure in
                        let task = manager.get("x", success: success, failure: failure)
                        DispatchQueue.global().async {
                            for _ in 0..<(index % 64) { _ = task.isCancelled }
                            task.cancel()
                        }
                    }
                    if case .cancelled? = ended.error?.kind { cancelled.withLock { $0 += 1 } }
                    #expect(ended.value == nil)
                }
            }
        }
        #expect(attempts.value <= 8000)
        #expect(cancelled.value > 0)
    }

    @Test func `progress of a call is told and kept`() async throws {
        let manager = HTTPSessionManager(StubTransport(json: "12345"))
        let seen = Shared<[TransferProgress]>([])
        let task = Shared<RequestTask?>(nil)
        let ended: Outcome<JSONValue> = await outcome { success, failure in
            let started = manager.post("x", parameters: ["a": 1], success: success, failure: failure) {
                progress in
                seen.withLock { $0.append(progress) }
            }
            task.withLock { $0 = started }
        }
        #expect(ended.value == 12345)
        #expect(
            seen.value == [
                TransferProgress(direction: .upload, completed: 3, total: 3),
                TransferProgress(direction: .download, completed: 5, total: 5),
            ]
        )
        #expect(task.value?.progress.fraction == 1)
    }
}
