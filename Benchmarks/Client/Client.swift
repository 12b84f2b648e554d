import BenchmarkSupport
import NetManager
import Synchronization

/// The workloads through the public API: the styles are async, executor, json, send and closure.
@main
struct Client {
    let arguments = Arguments()
    let manager: HTTPSessionManager

    init() throws {
        var configuration = HTTPSessionManager.Configuration()
        if let root = arguments.root {
            // Verified and pinned, as a program that talks to its own servers would be.
            let anchors = Set(try Certificate.load(contentsOf: root))
            configuration.securityPolicy = SecurityPolicy(
                pinningMode: .publicKey,
                pinnedCertificates: anchors,
                trustAnchors: .certificates(anchors)
            )
        }
        manager = HTTPSessionManager(configuration)
    }

    static func main() async throws {
        let client = try Client()
        let arguments = client.arguments
        var errors = arguments.warmUp > 0 ? try await client.run(arguments.warmUp) : 0
        let measurement = Measurement()
        errors += try await client.run(arguments.count)
        measurement.report("netmanager-\(arguments.style)", requests: arguments.count, errors: errors)
    }

    private func run(_ count: Int) async throws -> Int {
        switch arguments.workload {
        case .get: await get(count)
        case .download: try await transfer(count) { try await download() }
        case .upload: try await transfer(count) { try await upload() }
        }
    }

    private func get(_ count: Int) async -> Int {
        let manager = manager
        let url = arguments.url
        switch arguments.style {
        case "closure":
            return await runClosures(count, inFlight: arguments.inFlight) { done in
                manager.get(
                    url,
                    as: .data,
                    success: { _, data in done(!data.isEmpty) },
                    failure: { _, error in
                        Client.tell(error)
                        done(false)
                    }
                )
            }
        case "executor":
            // The tasks of the program itself run on the engine's thread, as they ask to.
            return await withTaskExecutorPreference(manager.executor) {
                await runLanes(count, inFlight: arguments.inFlight) {
                    await Client.isGood { try await !manager.get(url, as: .data).isEmpty }
                }
            }
        case "json":
            return await runLanes(count, inFlight: arguments.inFlight) {
                await Client.isGood { try await !manager.get(url).isNull }
            }
        case "send":
            guard let url = URL(string: url) else { return count }
            return await runLanes(count, inFlight: arguments.inFlight) {
                await Client.isGood { try await manager.send(HTTPRequest(url: url)).head.status == 200 }
            }
        default:
            return await runLanes(count, inFlight: arguments.inFlight) {
                await Client.isGood { try await !manager.get(url, as: .data).isEmpty }
            }
        }
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
