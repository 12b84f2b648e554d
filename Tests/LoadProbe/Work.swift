import Glibc
import NetManager

/// The kinds of work; each is measured from when a small request has shown what idling takes.
struct Work {
    let base: String
    let count: Int
    let manager: HTTPSessionManager

    init(base: String, count: Int) {
        self.base = base
        self.count = count
        var configuration = HTTPSessionManager.Configuration()
        configuration.securityPolicy = SecurityPolicy(
            allowInvalidCertificates: true,
            validatesDomainName: false
        )
        configuration.timeout = .seconds(600)
        configuration.timeouts.idle = nil
        manager = HTTPSessionManager(configuration)
    }

    private func request(_ method: HTTPMethod, _ target: String, body: HTTPBody? = nil) throws
        -> HTTPRequest
    {
        guard let url = URL(string: base + target) else { throw Unusable() }
        return HTTPRequest(method, url: url, body: body)
    }

    /// Makes what lives as long as the process: the engine, the pools of threads, a connection.
    func warmUp() async throws {
        try await manager.stream(request(.get, "/small")) { response in
            for try await _ in response.body {}
        }
        _ = try await manager.send(request(.post, "/small", body: .stream(Pieces(count: 1), length: nil)))
    }

    /// Streams a body of so many bytes and forgets it.
    func download() async throws -> Report {
        let idle = try Memory.settle()
        let bytes = try await manager.stream(request(.get, "/big")) { response in
            var bytes = 0
            for try await piece in response.body { bytes += piece.count }
            return bytes
        }
        return try Report(idle: idle, bytes: bytes)
    }

    /// Sends a stream of so many bytes, with its length declared or not.
    func upload(isDeclared: Bool) async throws -> Report {
        let idle = try Memory.settle()
        let pieces = Pieces(count: count / Pieces.size)
        let body = HTTPBody.stream(pieces, length: isDeclared ? Int64(count) : nil)
        let answer = try await manager.send(request(.post, "/upload", body: body)).body
        return try Report(idle: idle, bytes: Int(String(decoding: answer, as: UTF8.self)) ?? -1)
    }

    /// Opens so many streams and reads nothing of them, or a piece of each, while the standard input is open.
    ///
    /// With company, small requests are answered meanwhile, one after the other.
    func sleep(afterPiece: Bool = false, hasCompany: Bool = false) async throws -> Report {
        let idle = try Memory.settle()
        let responses = try await withThrowingTaskGroup(of: Void.self) { group in
            let (heads, head) = AsyncStream<Void>.makeStream()
            let (ends, end) = AsyncStream<Void>.makeStream()
            for _ in 0..<count {
                let request = try request(.get, "/endless")
                group.addTask {
                    try await manager.stream(request) { response in
                        var pieces = response.body.makeAsyncIterator()
                        if afterPiece { _ = try await pieces.next() }
                        head.yield()
                        for await _ in ends {}
                        withExtendedLifetime(pieces) {}
                    }
                }
            }
            var seen = 0
            for await _ in heads {
                seen += 1
                if seen == count { break }
            }
            if hasCompany {
                for _ in 0..<64 { _ = try await manager.send(self.request(.get, "/small")) }
            }
            say("ready")
            await hear()
            let report = try Report(idle: idle, bytes: 0)
            end.finish()
            group.cancelAll()
            return report
        }
        return responses
    }

    /// Sends so many requests at once and waits while the standard input is open.
    func wait() async throws -> Report {
        let idle = try Memory.settle()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                let request = try request(.get, "/wait")
                group.addTask { _ = try await manager.send(request) }
            }
            say("ready")
            await hear()
            defer { group.cancelAll() }
            return try Report(idle: idle, bytes: 0)
        }
    }
}

struct Unusable: Error {}

/// Zeros, a piece at a time.
private struct Pieces: AsyncSequence, Sendable {
    static let size = 64 << 10

    let count: Int

    struct Iterator: AsyncIteratorProtocol {
        var left: Int
        let piece = Data(count: Pieces.size)

        mutating func next() async -> Data? {
            guard left > 0 else { return nil }
            left -= 1
            return piece
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(left: count) }
}
