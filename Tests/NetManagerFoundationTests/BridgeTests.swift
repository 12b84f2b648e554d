import Foundation
import FoundationNetworking
import NetManagerFoundation
import TestServer
import Testing

/// Foundation's requests, responses and progress.
@Suite struct BridgeTests {
    private let url = URL(string: "https://h/p?q=1") ?? URL(filePath: "/")

    @Test func `a request goes there and back`() throws {
        var request = HTTPRequest(.put, url: url, headers: ["B": "1", "a": "2"], body: .data(Data("x".utf8)))
        request.headers.add("3", for: "A")
        request.headers.add("c=d", for: "Cookie")
        request.headers.add("e=f", for: "Cookie")
        let bridged = try URLRequest(request)
        #expect(bridged.httpMethod == "PUT")
        #expect(bridged.url == url)
        #expect(bridged.value(forHTTPHeaderField: "A") == "2, 3")
        #expect(bridged.value(forHTTPHeaderField: "Cookie") == "c=d; e=f")
        #expect(bridged.httpBody == Data("x".utf8))
        let back = try HTTPRequest(bridged)
        #expect(back.method == .put)
        #expect(back.url == url)
        #expect(back.headers["a"] == "2, 3")
        #expect(back.headers["b"] == "1")
        #expect(back.body?.knownLength == 1)
        #expect(try HTTPRequest(URLRequest(url: url)).method == .get)
    }

    @Test func `a body from a file becomes a stream, one from a sequence an error`() throws {
        let path = FileManager.default.temporaryDirectory.path + "/netmanager-\(UUID().uuidString)"
        try Data("file".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let stream = try URLRequest(HTTPRequest(.post, url: url, body: .file(path))).httpBodyStream
        let input = try #require(stream)
        input.open()
        var bytes = [UInt8](repeating: 0, count: 10)
        #expect(input.read(&bytes, maxLength: 10) == 4)
        input.close()

        let missing = serializationError { try URLRequest(HTTPRequest(url: url, body: .file("/nope"))) }
        guard case .file(path: "/nope", _) = missing else {
            Issue.record("\(String(describing: missing))")
            return
        }
        let pieces = AsyncStream<Data> { $0.finish() }
        #expect(serializationError { try URLRequest(HTTPRequest(url: url, body: .stream(pieces))) } != nil)
        var streaming = URLRequest(url: url)
        streaming.httpBodyStream = InputStream(data: Data("x".utf8))
        #expect(serializationError { try HTTPRequest(streaming) } != nil)
    }

    @Test func `fields that the library sets are not taken over`() throws {
        var request = URLRequest(url: url)
        request.setValue("1", forHTTPHeaderField: "Content-Length")
        request.setValue("chunked", forHTTPHeaderField: "Transfer-Encoding")
        #expect(try HTTPRequest(request).headers.isEmpty)
    }

    @Test func `a response goes there and back`() throws {
        var head = HTTPResponse.Head(status: 404, headers: ["X-A": "1"], url: url, version: .http2)
        head.headers.add("2", for: "x-a")
        let bridged = try #require(HTTPURLResponse(head))
        #expect(bridged.statusCode == 404)
        #expect(bridged.url == url)
        #expect(bridged.value(forHTTPHeaderField: "x-a") == "1, 2")
        let back = try #require(HTTPResponse(bridged, body: Data("b".utf8)))
        #expect(back.head.status == 404)
        #expect(back.head.url == url)
        #expect(back.head.headers["X-A"] == "1, 2")
        #expect(back.body == Data("b".utf8))
    }

    @Test func `a URLRequest is sent and answered with Foundation's response`() async throws {
        let server = try TestServer { request in
            .text("\(request.method) \(String(decoding: request.body, as: UTF8.self))", status: 404)
        }
        let manager = HTTPSessionManager(.init(), transport: CurlTransport())
        var request = URLRequest(url: try #require(URL(string: server.url("/x", host: "127.0.0.1"))))
        request.httpMethod = "POST"
        request.httpBody = Data("b".utf8)
        request.setValue("1", forHTTPHeaderField: "X-Own")
        let (data, response) = try await manager.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "POST b")
        #expect(response.statusCode == 404)
        #expect(server.requests.first?.headers["X-Own"] == "1")
    }

    @Test func `the time limit of a URLRequest holds, and one that is no time is left out`() async throws {
        let server = try TestServer { $0.target == "/silent" ? Fault.silence.answer : .json("{}") }
        let manager = HTTPSessionManager(.init(), transport: CurlTransport())
        var request = URLRequest(url: try #require(URL(string: server.url("/silent", host: "127.0.0.1"))))
        request.timeoutInterval = 0.2
        let error = await #expect(throws: RequestError.self) { _ = try await manager.data(for: request) }
        #expect((try #require(error) as NSError).code == NSURLErrorTimedOut)
        request.url = URL(string: server.url("/", host: "127.0.0.1"))
        for interval in [.infinity, .nan, -1, 0, 1e300] {
            request.timeoutInterval = interval
            _ = try await manager.data(for: request)
        }
    }

    @Test func `a progress object is told of its direction only`() {
        let progress = Progress(totalUnitCount: -1)
        let handler = progress.handler(for: .upload)
        handler(TransferProgress(direction: .download, completed: 9, total: 9))
        #expect(progress.completedUnitCount == 0)
        handler(TransferProgress(direction: .upload, completed: 1))
        #expect(progress.isIndeterminate)
        handler(TransferProgress(direction: .upload, completed: 2, total: 4))
        #expect(progress.fractionCompleted == 0.5)
    }

    @Test func `a progress object reaches 1 and cancels its call`() async throws {
        let manager = HTTPSessionManager(.init(), transport: CurlTransport())
        let server = try TestServer { _ in .bytes(100_000) }
        let progress = Progress(totalUnitCount: -1)
        var options = RequestOptions()
        options.progress = progress.handler()
        // With closures: an async call does not wait for the queue on which the handler is told.
        let failed: RequestError? = await withCheckedContinuation { continuation in
            manager.get(
                server.url("/", host: "127.0.0.1"),
                options: options,
                as: .data,
                success: { _, _ in continuation.resume(returning: nil) },
                failure: { continuation.resume(returning: $1) }
            )
        }
        #expect(failed == nil)
        #expect(progress.fractionCompleted == 1)
        #expect(progress.totalUnitCount == 100_000)

        let gate = Gate()
        let silent = try TestServer { _ in .json("{}").after(gate) }
        defer { gate.open() }
        let error: RequestError? = await withCheckedContinuation { continuation in
            let task = manager.get(
                silent.url("/", host: "127.0.0.1"),
                success: { _, _ in continuation.resume(returning: nil) },
                failure: { _, error in continuation.resume(returning: error) }
            )
            let progress = Progress(totalUnitCount: -1)
            progress.cancels(task)
            progress.cancel()
        }
        #expect((try #require(error) as NSError).code == NSURLErrorCancelled)
    }
}
