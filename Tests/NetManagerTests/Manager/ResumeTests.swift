import Glibc
import TestServer
import Testing

@testable import NetManager

/// Downloads that go on where an earlier one broke off.
@Suite struct ResumeTests {
    private static let whole = "0123456789"

    private let folder: TemporaryFolder
    private let manager = HTTPSessionManager(CurlTransport())

    init() throws {
        folder = try TemporaryFolder()
    }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private var content: String? {
        FileManager.default.contents(atPath: folder.path + "/file").map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func download(_ server: TestServer, _ path: String = "/") async throws -> DownloadedFile {
        var settings = DownloadOptions()
        settings.resumes = true
        return try await manager.download(server.url(path), to: folder.path + "/file", settings: settings)
    }

    /// A server whose first answer breaks off after four bytes, and that answers later requests by the closure.
    private func server(
        _ validator: String,
        _ later: @escaping TestServer.Handler
    ) throws -> TestServer {
        try TestServer { request in
            guard request.connection > 0 else {
                return .raw("HTTP/1.1 200 OK\r\n\(validator)\r\nContent-Length: 10\r\n\r\n0123")
            }
            return try later(request)
        }
    }

    private static func rest(_ range: String = "bytes 4-9/10") -> Answer {
        .text("456789", status: 206).header("Content-Range", range).header("ETag", "\"a\"")
    }

    @Test func `what has arrived is kept, and only the rest is asked for`() async throws {
        let server = try server("ETag: \"a\"") { _ in Self.rest() }
        let error = await requestError { _ = try await download(server) }
        #expect(error?.label == "connection_lost")
        #expect(names == ["file.download", "file.download.json"])
        let file = try await download(server)
        #expect(file.resumedFrom == 4)
        #expect(file.size == 10)
        #expect(content == Self.whole)
        #expect(names == ["file"])
        let request = try #require(server.requests.last)
        #expect(request.headers["Range"] == "bytes=4-")
        #expect(request.headers["If-Range"] == "\"a\"")
        #expect(request.headers["Accept-Encoding"] == "identity")
    }

    @Test func `a date is a validator when it is older than the answer`() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let server = try server("Last-Modified: \(date)\r\nDate: Sun, 06 Nov 1994 08:50:00 GMT") { _ in
            Self.rest()
        }
        _ = await requestError { _ = try await download(server) }
        #expect(try await download(server).resumedFrom == 4)
        #expect(server.requests.last?.headers["If-Range"] == date)
        #expect(content == Self.whole)
    }

    @Test(arguments: ["ETag: W/\"a\"", "X-None: 1", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"])
    func `without a strong validator nothing is kept`(validator: String) async throws {
        let server = try server(validator) { _ in .text(Self.whole) }
        _ = await requestError { _ = try await download(server) }
        #expect(names.isEmpty)
        #expect(try await download(server).resumedFrom == 0)
        #expect(server.requests.last?.headers["Range"] == nil)
    }

    @Test func `a content that has changed is taken from the beginning`() async throws {
        let server = try server("ETag: \"a\"") { _ in .text("another").header("ETag", "\"b\"") }
        _ = await requestError { _ = try await download(server) }
        let file = try await download(server)
        #expect(file.resumedFrom == 0)
        #expect(content == "another")
        #expect(names == ["file"])
    }

    @Test(arguments: [
        Self.rest("bytes 3-9/10"), Self.rest("bytes 4-9/11"), Self.rest("nonsense"),
        Self.rest().with { $0.headers["ETag"] = "\"b\"" }, .status(416),
        Self.rest().header("Content-Encoding", "gzip"),
    ])
    func `a part that does not fit, or none, means to begin again`(answer: Answer) async throws {
        let server = try server("ETag: \"a\"") { request in
            request.headers["Range"] == nil ? .text(Self.whole) : answer
        }
        _ = await requestError { _ = try await download(server) }
        let file = try await download(server)
        #expect(file.resumedFrom == 0)
        #expect(content == Self.whole)
        #expect(names == ["file"])
    }

    @Test func `a part is not taken for the rest where nobody says how long the whole is`() async throws {
        let server = try TestServer { request in
            guard request.connection > 0 else {
                let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nTransfer-Encoding: chunked\r\n\r\n"
                return .raw(head + "4\r\n0123\r\n")
            }
            guard request.headers["Range"] != nil else { return .text(Self.whole) }
            return .text("45", status: 206).header("Content-Range", "bytes 4-5/*").header("ETag", "\"a\"")
        }
        _ = await requestError { _ = try await download(server) }
        #expect(names == ["file.download", "file.download.json"])
        #expect(try await download(server).resumedFrom == 0)
        #expect(content == Self.whole)
    }

    @Test func `a rest that is too short is an error, and nothing of it is kept`() async throws {
        let server = try server("ETag: \"a\"") { _ in
            Self.rest("bytes 4-9/10").with { $0.body = Data("45".utf8) }
        }
        _ = await requestError { _ = try await download(server) }
        let error = await requestError { _ = try await download(server) }
        #expect(error?.label == "protocol_error")
        #expect(names.isEmpty)
    }

    @Test func `an error's page does not touch what is kept`() async throws {
        let server = try server("ETag: \"a\"") { request in
            request.connection == 1 && request.indexOnConnection == 0
                ? .text("busy", status: 503) : Self.rest()
        }
        _ = await requestError { _ = try await download(server) }
        let error = await requestError { _ = try await download(server) }
        #expect(error?.label == "status_5xx")
        #expect(try await download(server).resumedFrom == 4)
        #expect(content == Self.whole)
    }

    @Test func `another URL does not continue what is kept`() async throws {
        let server = try server("ETag: \"a\"") { _ in .text(Self.whole) }
        _ = await requestError { _ = try await download(server) }
        #expect(try await download(server, "/other").resumedFrom == 0)
        #expect(server.requests.last?.headers["Range"] == nil)
    }

    @Test func `two downloads do not write to one kept file`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .text(Self.whole).header("ETag", "\"a\"").holdingBody(until: gate)
        }
        async let first = download(server)
        #expect(await server.until { $0.requests == 1 })
        let error = await requestError { _ = try await download(server) }
        #expect(error?.label == "file")
        gate.open()
        let file = try await first
        #expect(file.size == 10)
    }

    @Test func `a file that another download has taken closes no descriptor of others`() async throws {
        let target = folder.path + "/file"
        let taken = try PartialFile(target: target, isResumable: true)
        let (refused, broken) = await withTaskGroup(of: (Int, Int).self) { group in
            group.addTask {
                let refused = (0..<20_000).count { _ in
                    (try? PartialFile(target: target, isResumable: true)) == nil
                }
                return (refused, 0)
            }
            group.addTask {
                let broken = (0..<20_000).count { _ in
                    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                    let isOpen = fcntl(descriptor, F_GETFD) >= 0
                    close(descriptor)
                    return !isOpen
                }
                return (0, broken)
            }
            return await group.reduce(into: (0, 0)) { $0 = ($0.0 + $1.0, $0.1 + $1.1) }
        }
        #expect(refused == 20_000)
        #expect(broken == 0)
        withExtendedLifetime(taken) {}
    }

    @Test func `a file that is let go of can be taken at once, also while programs are started`() throws {
        let target = folder.path + "/file"
        var first: PartialFile? = try PartialFile(target: target, isResumable: true)
        let path = try #require(first?.path)
        // A copy of the descriptor, as every program has one from the fork to the exec.
        let files = FileManager.default
        let own = try files.contentsOfDirectory(atPath: "/proc/self/fd").first {
            (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
        let held = dup(try #require(own.flatMap { Int32($0) }))
        defer { close(held) }
        #expect(throws: FileProblem.self) { try PartialFile(target: target, isResumable: true) }
        first = nil
        _ = try PartialFile(target: target, isResumable: true)
    }

    @Test(arguments: [
        ("bytes 0-0/1", true), ("BYTES 5-9/10", true), ("bytes 5-9/*", true), ("bytes 5-4/10", false),
        ("bytes 5-10/10", false), ("bytes */10", false), ("bytes -1-4/10", false), ("items 0-1/2", false),
        ("bytes 0-1", false), ("", false), ("bytes 0-99999999999999999999/*", false),
    ])
    func `a Content-Range is read as RFC 9110 writes it`(text: String, isRange: Bool) {
        #expect((ContentRange(text) != nil) == isRange)
    }
}
