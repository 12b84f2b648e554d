import FoundationEssentials
import HTTPMessage
import TestServer
import Testing

@testable import NetManager

/// Downloads whose content breaks off and is continued within the call.
@Suite struct ContinuedDownloadTests {
    private static let whole = "0123456789"

    private let folder: TemporaryFolder
    private let time = VirtualTime()

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path + "/file" }

    private var content: String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    private func manager(_ configure: (inout RetryPolicy) -> Void = { _ in }) -> HTTPSessionManager {
        HTTPSessionManager(CurlTransport()) {
            var policy = RetryPolicy()
            configure(&policy)
            $0.retryPolicy = policy
            $0.time = time.source()
        }
    }

    /// A server that breaks off after every three bytes of what it is asked for.
    private func stuttering(_ field: String = "ETag: \"a\"", takesRanges: Bool = true) throws -> TestServer {
        try TestServer { request in
            let start = request.headers["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let rest = Self.whole.dropFirst(start)
            if start > 0, takesRanges {
                let head =
                    "HTTP/1.1 206 Partial Content\r\n\(field)\r\nContent-Range: bytes \(start)-9/10\r\n"
                return .raw(head + "Content-Length: \(rest.count)\r\n\r\n" + rest.prefix(3))
            }
            let sent = takesRanges || request.connection < 2 ? Self.whole.prefix(3) : Self.whole[...]
            return .raw("HTTP/1.1 200 OK\r\n\(field)\r\nContent-Length: 10\r\n\r\n" + sent)
        }
    }

    @Test func `a content that breaks off is continued, again and again, within one call`() async throws {
        let server = try stuttering()
        let file = try await manager { $0.limit = 5 }.download(server.url(), to: path)
        #expect(content == Self.whole)
        #expect(file.size == 10)
        #expect(file.resumedFrom == 0)
        #expect(
            server.requests.map { $0.headers["Range"] } == [nil, "bytes=3-", "bytes=6-", "bytes=9-"]
        )
        #expect(server.requests.dropFirst().allSatisfy { $0.headers["If-Range"] == "\"a\"" })
        #expect(time.sleeps.count == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
    }

    @Test func `the policy's limit ends it`() async throws {
        let server = try stuttering()
        let error = await requestError {
            _ = try await manager { $0.limit = 2 }.download(server.url(), to: path)
        }
        #expect(error?.label == "connection_lost")
        #expect(server.counters.requests == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `without a policy the first break is the end`() async throws {
        let server = try stuttering()
        let manager = HTTPSessionManager(CurlTransport())
        let error = await requestError { _ = try await manager.download(server.url(), to: path) }
        #expect(error?.label == "connection_lost")
        #expect(server.counters.requests == 1)
    }

    @Test(arguments: ["X-None: 1", "ETag: W/\"a\""])
    func `without a strong validator all of it is asked for again`(field: String) async throws {
        let server = try stuttering(field, takesRanges: false)
        let file = try await manager().download(server.url(), to: path)
        #expect(content == Self.whole)
        #expect(file.size == 10)
        #expect(server.requests.allSatisfy { $0.headers["Range"] == nil })
    }

    @Test func `a server that sends all of it again is taken at its word`() async throws {
        let server = try stuttering(takesRanges: false)
        _ = try await manager().download(server.url(), to: path)
        #expect(content == Self.whole)
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=3-", "bytes=3-"])
    }

    @Test func `the time of the whole call ends it`() async throws {
        let server = try stuttering()
        var options = RequestOptions()
        options.timeout = .seconds(20)
        let manager = manager {
            $0.limit = 100
            $0.jitter = 0
            $0.firstDelay = .seconds(15)
            $0.multiplier = 1
        }
        let error = await requestError {
            _ = try await manager.download(server.url(), options: options, to: path)
        }
        #expect(error?.label == "connection_lost")
        #expect(time.sleeps == [.seconds(15)])
    }

    @Test func `cancelling ends it while it waits for its next try`() async throws {
        let server = try stuttering()
        let manager = HTTPSessionManager(CurlTransport()) {
            var policy = RetryPolicy()
            policy.firstDelay = .seconds(50)
            $0.retryPolicy = policy
        }
        let (url, path) = (server.url(), path)
        let waiting = Latch()
        var options = RequestOptions()
        let monitor = RetryMonitor(waiting)
        options.eventMonitors = [monitor]
        let call = Task { [options] in try await manager.download(url, options: options, to: path) }
        await waiting.wait()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(server.counters.requests == 1)
    }
}

/// Tells when a call waits for its next try.
private struct RetryMonitor: EventMonitor {
    let waiting: Latch

    init(_ waiting: Latch) { self.waiting = waiting }

    func retryScheduled(after delay: Duration, situation: RetrySituation, of call: MonitoredCall) {
        waiting.open()
    }
}
