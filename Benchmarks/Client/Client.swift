import BenchmarkSupport
import Dispatch
import Glibc
import NetManager
import Synchronization

/// The workloads through the public API: the styles are async, executor, json, send and closure.
@main
struct Client {
    let arguments = Arguments()
    private let targets: Targets
    private var manager: HTTPSessionManager { targets.next.manager }

    /// The main thread waits by itself, so that valgrind 3.19 can count what this does (see BenchmarkGuard).
    static func main() {
        let arguments = Arguments()
        // What runs on the engine's thread from the first needs none of Swift's pool.
        guard arguments.style == "executor" else { return wait(for: nil) { try Targets(arguments) } }
        let base = Measurement.residentKiB
        do {
            let targets = try Targets(arguments)
            wait(for: targets.next.manager.executor, base: base) { targets }
        } catch {
            fail(error)
        }
    }

    private static func wait(
        for executor: (any TaskExecutor)?,
        base: Int? = nil,
        _ targets: @escaping @Sendable () throws -> Targets
    ) {
        let isDone = DispatchSemaphore(value: 0)
        Task.detached(executorPreference: executor) {
            do {
                try await measure(base ?? Measurement.residentKiB, targets)
            } catch {
                fail(error)
            }
            isDone.signal()
        }
        isDone.wait()
    }

    private static func fail(_ error: any Error) -> Never {
        print("BenchmarkClient: \(error)")
        exit(1)
    }

    private static func measure(_ base: Int, _ targets: () throws -> Targets) async throws {
        let client = Client(targets: try targets())
        let arguments = client.arguments
        var errors = arguments.warmUp > 0 ? try await client.run(arguments.warmUp) : 0
        let measurement = Measurement(base: base)
        errors += try await client.run(arguments.count)
        measurement.report("netmanager-\(arguments.style)", requests: arguments.count, errors: errors)
    }

    private init(targets: Targets) { self.targets = targets }

    private func run(_ count: Int) async throws -> Int {
        switch arguments.workload {
        case .get: await get(count)
        case .download: try await transfer(count) { try await download() }
        case .upload: try await transfer(count) { try await upload() }
        }
    }

    private func get(_ count: Int) async -> Int {
        let targets = targets
        switch arguments.style {
        case "closure":
            return await runClosures(count, inFlight: arguments.inFlight) { done in
                let target = targets.next
                target.manager.get(
                    target.url,
                    as: .data,
                    success: { _, data in done(!data.isEmpty) },
                    failure: { _, error in
                        Client.tell(error)
                        done(false)
                    }
                )
            }
        case "json":
            return await runLanes(count, inFlight: arguments.inFlight) {
                let target = targets.next
                return await Client.isGood { try await !target.manager.get(target.url).isNull }
            }
        case "send":
            guard let url = URL(string: arguments.url) else { return count }
            let manager = manager
            return await runLanes(count, inFlight: arguments.inFlight) {
                await Client.isGood { try await manager.send(HTTPRequest(url: url)).head.status == 200 }
            }
        default:
            return await runLanes(count, inFlight: arguments.inFlight) { await Client.gets(targets.next) }
        }
    }

    private static func gets(_ target: Targets.Target) async -> Bool {
        await isGood { try await !target.manager.get(target.url, as: .data).isEmpty }
    }

    private func transfer(_ count: Int, _ body: @escaping @Sendable () async throws -> Bool) async throws
        -> Int
    {
        await runLanes(count, inFlight: arguments.inFlight) { await Client.isGood(body) }
    }

    private func download() async throws -> Bool {
        guard let url = URL(string: arguments.url) else { return false }
        return try await manager.stream(HTTPRequest(url: url)) { response in
            var count = 0
            for try await piece in response.body { count += piece.count }
            return count == Arguments.uploadSize
        }
    }

    private func upload() async throws -> Bool {
        guard let url = URL(string: arguments.url) else { return false }
        let body = HTTPBody.stream(Zeros(), length: Int64(Arguments.uploadSize))
        return try await manager.send(HTTPRequest(.post, url: url, body: body)).head.status == 200
    }

    private static func isGood(_ request: () async throws -> Bool) async -> Bool {
        do {
            return try await request()
        } catch {
            tell(error)
            return false
        }
    }

    private static let hasTold = Atomic<Bool>(false)

    /// Prints the first error; the rest are counted.
    private static func tell(_ error: any Error) {
        guard !hasTold.exchange(true, ordering: .relaxed) else { return }
        print("# \(error)")
    }
}

/// The body of an upload, in pieces of 256 KiB.
private struct Zeros: AsyncSequence, Sendable {
    struct Iterator: AsyncIteratorProtocol {
        private var left = Arguments.uploadSize
        private let piece = Data(count: 256 << 10)

        mutating func next() async -> Data? {
            guard left > 0 else { return nil }
            left -= piece.count
            return piece
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator() }
}
