import FoundationEssentials
import HTTPMessage
import Testing

@testable import NetManager

/// URLs that were read lately are not read again.
@Suite struct CheckedURLsTests {
    @Test func `a text is read against the base URL of its time`() async throws {
        let stub = StubTransport(json: "1")
        let manager = HTTPSessionManager(transport: stub)
        for base in ["http://a/v1", "http://b/v2"] {
            manager.configuration.baseURL = URL(string: base)
            for _ in 0..<2 { _ = try await manager.get("users") }
        }
        let urls = stub.requests.map(\.url.absoluteString)
        #expect(urls == ["http://a/v1/users", "http://a/v1/users", "http://b/v2/users", "http://b/v2/users"])
    }

    @Test func `a URL with a query is not kept, as there may be secrets in it`() throws {
        let urls = CheckedURLs()
        for text in ["http://h/a", "http://h/a?token=1"] {
            urls.keep(try RequestURL.checkedURL(text, base: nil), for: text)
        }
        #expect(urls.url("http://h/a")?.url.absoluteString == "http://h/a")
        #expect(urls.url("http://h/a?token=1") == nil)
    }

    @Test func `texts that share a place do not share a URL`() throws {
        let urls = CheckedURLs()
        let texts = (0..<200).map { "http://h/\($0)" }
        for text in texts { urls.keep(try RequestURL.checkedURL(text, base: nil), for: text) }
        let kept = texts.filter { urls.url($0) != nil }
        #expect(!kept.isEmpty && kept.count <= 16)
        #expect(kept.allSatisfy { urls.url($0)?.url.absoluteString == $0 })
    }
}
