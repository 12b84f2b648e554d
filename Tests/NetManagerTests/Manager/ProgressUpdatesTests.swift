import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

@Suite struct ProgressUpdatesTests {
    private let manager = HTTPSessionManager(transport: CurlTransport())

    /// Everything that a sequence brings, with the time of each.
    private func collect(_ updates: ProgressUpdates) -> Task<
        [(TransferProgress, ContinuousClock.Instant)], Never
    > {
        Task {
            var all: [(TransferProgress, ContinuousClock.Instant)] = []
            for await progress in updates { all.append((progress, .now)) }
            return all
        }
    }

    @Test func `cases 512 and 518: both directions are told up to the last byte, with their totals`()
        async throws
    {
        let server = try TestServer { _ in .bytes(3_000_000) }
        var options = RequestOptions()
        let updates = ProgressUpdates()
        options.progressUpdates = updates
        let all = collect(updates)
        let body = try await manager.upload(
            server.url(),
            from: .data(Data(count: 2_000_000)),
            options: options,
            as: .data
        )
        #expect(body.count == 3_000_000)
        let seen = await all.value
        for (direction, total) in [(TransferProgress.Direction.upload, 2_000_000), (.download, 3_000_000)] {
            let figures = seen.map(\.0).filter { $0.direction == direction }
            #expect(figures.last?.completed == Int64(total))
            #expect(figures.last?.fraction == 1)
            #expect(figures.allSatisfy { $0.total == Int64(total) })
            #expect(zip(figures, figures.dropFirst()).allSatisfy { $0.completed < $1.completed })
        }
    }

    @Test func `a small body is told too, and a response without a length has no total`() async throws {
        let server = try TestServer { _ in .text("hello").chunked(2) }
        var options = RequestOptions()
        let updates = ProgressUpdates()
        options.progressUpdates = updates
        let all = collect(updates)
        _ = try await manager.upload(server.url(), from: .data(Data(count: 10)), options: options, as: .data)
        let seen = await all.value.map(\.0)
        #expect(seen.first == TransferProgress(direction: .upload, completed: 10, total: 10))
        #expect(seen.last == TransferProgress(direction: .download, completed: 5, total: nil))
    }

    @Test func `updates come at most ten times a second, and the last at once`() async throws {
        let updates = ProgressUpdates()
        let all = collect(updates)
        let start = ContinuousClock.now
        var count: Int64 = 0
        while ContinuousClock.now - start < .milliseconds(350) {
            count += 1
            updates.offer(TransferProgress(direction: .download, completed: count))
            await Task.yield()
        }
        updates.finish()
        let seen = await all.value
        #expect(seen.count <= 5)
        #expect(seen.last?.0.completed == count)
        for (before, after) in zip(seen.dropLast(), seen.dropFirst().dropLast()) {
            #expect(after.1 - before.1 >= .milliseconds(99))
        }
    }

    @Test func `a task's updates end with the call, for every reader`() async throws {
        let server = try TestServer { _ in .data(Data("[1,2,3]".utf8), type: "application/json") }
        let readers = Shared<[Task<[(TransferProgress, ContinuousClock.Instant)], Never>]>([])
        let result: Outcome<JSONValue> = await outcome { success, failure in
            let task = manager.get(server.url(), success: success, failure: failure)
            readers.withLock {
                [first = collect(task.progressUpdates), second = collect(task.progressUpdates)] in
                $0 = [first, second]
            }
        }
        #expect(result.value == [1, 2, 3])
        for reader in readers.value {
            #expect(
                await reader.value.last?.0 == TransferProgress(direction: .download, completed: 7, total: 7)
            )
        }
    }

    @Test func `updates end however the call ends`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text("").after(gate) }
        var options = RequestOptions()
        for url in ["http://[::1", server.url()] {
            let updates = ProgressUpdates()
            options.progressUpdates = updates
            let all = collect(updates)
            let call = Task { [options] in try await manager.get(url, options: options) }
            if url == server.url() { await gate.reached() }
            call.cancel()
            _ = await call.result
            #expect(await all.value.isEmpty)
        }
        let refused = HTTPSessionManager(StubTransport(json: "1"))
        await refused.shutdown(deadline: .zero)
        let updates = ProgressUpdates()
        options.progressUpdates = updates
        let all = collect(updates)
        _ = await requestError { [options] in _ = try await refused.get("x", options: options) }
        #expect(await all.value.isEmpty)
        gate.open()
    }

    @Test func `a reader that is cancelled ends`() async throws {
        let updates = ProgressUpdates()
        let reader = collect(updates)
        reader.cancel()
        #expect(await reader.value.isEmpty)
    }

    @Test func `case 514: a download's updates count what is in the file`() async throws {
        let server = try TestServer { _ in .bytes(1_000_000) }
        let folder = try TemporaryFolder()
        var options = RequestOptions()
        let updates = ProgressUpdates()
        options.progressUpdates = updates
        let all = collect(updates)
        _ = try await manager.download(server.url(), options: options, to: folder.path + "/file")
        #expect(
            await all.value.last?.0
                == TransferProgress(direction: .download, completed: 1_000_000, total: 1_000_000)
        )
    }

    @Test func `figures that a closure's queue brings late do not take the place of newer ones`() async throws
    {
        func downloaded(_ completed: Int64) -> TransferProgress {
            .init(direction: .download, completed: completed)
        }
        func uploaded(_ completed: Int64) -> TransferProgress {
            .init(direction: .upload, completed: completed)
        }
        let meter = ProgressMeter()
        let (told, source) = AsyncStream<TransferProgress>.makeStream()
        let recording = meter.recording { source.yield($0) }
        let handler = try #require(recording)
        meter.record(uploaded(500))
        for (late, expected) in [
            (uploaded(400), uploaded(500)), (downloaded(1), downloaded(1)), (uploaded(500), downloaded(1)),
            (downloaded(300), downloaded(300)), (downloaded(200), downloaded(300)),
        ] {
            handler(late)
            #expect(meter.progress == expected)
        }
        source.finish()
        let all = await told.reduce(into: []) { $0.append($1.completed) }
        #expect(all == [400, 1, 500, 300, 200], "the closure is told of each")
    }
}
