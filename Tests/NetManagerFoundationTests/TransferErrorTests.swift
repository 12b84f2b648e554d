import Foundation
import NetManagerFoundation
import TestServer
import Testing

/// Transfers over real connections that fail, as `NSError`.
@Suite struct TransferErrorTests {
    private let manager = HTTPSessionManager(.init(), transport: CurlTransport())

    private func number(_ url: String, _ options: RequestOptions = .init()) async -> String? {
        (await failureOfGet(url, from: manager, options: options)).map { ($0 as NSError).number }
    }

    private func number(_ fault: Fault) async throws -> String? {
        let server = try TestServer { _ in fault.answer }
        return await number(server.url("/", host: "127.0.0.1"))
    }

    @Test func `case 526: a call that was cancelled is −999`() async throws {
        let gate = Gate()
        let server = try TestServer { _ in .json("{}").after(gate) }
        defer { gate.open() }
        let url = server.url("/", host: "127.0.0.1")
        let manager = manager
        let error: RequestError? = await withCheckedContinuation { continuation in
            let task = manager.get(
                url,
                success: { _, _ in continuation.resume(returning: nil) },
                failure: { _, error in continuation.resume(returning: error) }
            )
            Task {
                await gate.reached()
                task.cancel()
            }
        }
        #expect((try #require(error) as NSError).number == "NSURLErrorDomain -999")
    }

    @Test func `case 527: a call that takes too long is −1001`() async throws {
        let server = try TestServer { _ in Fault.silence.answer }
        var options = RequestOptions()
        options.timeout = .milliseconds(200)
        #expect(await number(server.url("/", host: "127.0.0.1"), options) == "NSURLErrorDomain -1001")
    }

    @Test func `case 529: a port where nobody listens is −1004`() async throws {
        let server = try TestServer { _ in .json("{}") }
        let url = server.url("/", host: "127.0.0.1")
        server.stop()
        #expect(await number(url) == "NSURLErrorDomain -1004")
    }

    @Test func `case 530: a body that ends early is −1005`() async throws {
        #expect(try await number(.truncatedBody(declaring: 100, sending: 10)) == "NSURLErrorDomain -1005")
    }

    @Test func `case 547: redirects in a circle are −1007`() async throws {
        #expect(try await number(.endlessRedirect) == "NSURLErrorDomain -1007")
    }

    @Test func `case 556: a 401 without credentials is one −1011`() async throws {
        let server = try TestServer { _ in .status(401).header("WWW-Authenticate", "Basic realm=x") }
        let url = server.url("/", host: "127.0.0.1")
        let error = try #require(await failureOfGet(url, from: manager))
        let full = NSError(requestError: error)
        #expect(full.number == "com.alamofire.error.serialization.response -1011")
        #expect(full.localizedDescription.contains("401"))
    }

    @Test func `TLS with a server that speaks none is −1200`() async throws {
        let server = try TestServer { _ in .json("{}") }
        let url = "https://127.0.0.1:\(server.port)/"
        #expect(await number(url) == "NSURLErrorDomain -1200")
    }
}
