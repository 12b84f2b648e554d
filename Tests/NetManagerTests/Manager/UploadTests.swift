import TestServer
import Testing

@testable import NetManager

/// Uploads of bodies as they are, over real connections.
@Suite struct UploadTests {
    private let manager = HTTPSessionManager(CurlTransport())

    private func echo() throws -> TestServer {
        try TestServer { request in
            .json(
                #"{"method":"\#(request.method)","type":"\#(request.headers["Content-Type"] ?? "")","length":\#(request.bodyLength)}"#
            )
        }
    }

    @Test func `case 518: the progress of a file's upload reaches the whole`() async throws {
        let server = try echo()
        let folder = try TemporaryFolder()
        let path = folder.path + "/picture.png"
        try Data(count: 300_000).write(to: URL(filePath: path))
        let seen = Shared<[TransferProgress]>([])
        let ended: Outcome<JSONValue> = await outcome { success, failure in
            manager.upload(
                server.url(),
                from: .file(path),
                success: success,
                failure: failure,
                progress: { progress in seen.withLock { $0.append(progress) } }
            )
        }
        #expect(ended.value == ["method": "POST", "type": "image/png", "length": 300_000])
        let last = seen.value.last { $0.direction == .upload }
        #expect(last?.completed == 300_000)
        #expect(last?.fraction == 1)
    }

    @Test func `bytes and sequences are uploaded with the method and type that the caller names`()
        async throws
    {
        let server = try echo()
        let json = try await manager.upload(server.url(), from: .data(Data("abc".utf8)), method: .put)
        #expect(json == ["method": "PUT", "type": "application/octet-stream", "length": 3])
        let pieces = AsyncStream { continuation in
            for _ in 0..<3 { continuation.yield(Data("abc".utf8)) }
            continuation.finish()
        }
        let text = try await manager.upload(
            server.url(),
            from: .stream(pieces),
            headers: ["Content-Type": "text/x"],
            as: .json
        )
        #expect(text == ["method": "POST", "type": "text/x", "length": 9])
    }

    @Test func `a file that is not there is an error before any traffic`() async throws {
        let server = try echo()
        let error = await requestError {
            _ = try await manager.upload(server.url(), from: .file("/nonexistent"))
        }
        #expect(error?.label == "file")
        #expect(server.counters.requests == 0)
    }
}
