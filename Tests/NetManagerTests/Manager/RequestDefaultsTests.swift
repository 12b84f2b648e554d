import FoundationEssentials
import NetManager
import TestServer
import Testing

/// What a manager adds to requests by itself.
@Suite struct RequestDefaultsTests {
    private func sent(
        _ change: (inout HTTPSessionManager.Configuration) -> Void,
        headers: HTTPHeaders = [:],
        text: String = "x"
    ) async throws -> ReceivedRequest {
        let server = try TestServer { _ in .json("{}") }
        let manager = HTTPSessionManager(transport: CurlTransport())
        manager.updateConfiguration(change)
        _ = try await manager.post(server.url(), parameters: ["text": .string(text)], headers: headers)
        return try #require(server.requests.first)
    }

    @Test func `a request says who asks, unless the caller does`() async throws {
        #expect(try await sent({ _ in }).headers["User-Agent"]?.contains("NetManager") == true)
        let own = try await sent({ _ in }, headers: ["user-agent": "mine"])
        #expect(own.headers[values: "User-Agent"] == ["mine"])
        let configured = try await sent({ $0.headers["User-Agent"] = "ours" })
        #expect(configured.headers[values: "User-Agent"] == ["ours"])
    }

    @Test func `the fields that are added can be left out`() async throws {
        #expect(try await sent({ $0.sendsDefaultHeaders = false }).headers["User-Agent"] == nil)
    }

    @Test func `a body is compressed when the configuration says so`() async throws {
        let text = String(repeating: "long ", count: 1000)
        let plain = try await sent({ _ in }, text: text)
        #expect(plain.headers["Content-Encoding"] == nil)
        let packed = try await sent({ $0.requestCompression = .gzip }, text: text)
        #expect(packed.headers["Content-Encoding"] == "gzip")
        #expect(packed.bodyLength < plain.bodyLength / 10)
        #expect(packed.headers["Content-Length"] == "\(packed.bodyLength)")
    }

    @Test func `a body that is compressed already is not compressed again`() async throws {
        let text = String(repeating: "long ", count: 1000)
        let server = try TestServer { _ in .json("{}") }
        let manager = HTTPSessionManager(transport: CurlTransport())
        manager.updateConfiguration { $0.requestCompression = .gzip }
        let error = try await failure {
            _ = try await manager.post(
                server.url(),
                parameters: ["text": .string(text)],
                headers: ["Content-Encoding": "br"]
            )
        }
        guard case .invalidRequest = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(server.counters.connections == 0)
    }
}
