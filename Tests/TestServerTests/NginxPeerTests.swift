import COpenSSL
import FoundationEssentials
import TestPKI
import TestServer
import Testing

@Suite(.enabled(if: NginxPeer.isInstalled, "nginx is not installed"))
struct NginxPeerTests {
    @Test func `nginx serves files and tells of connections and resumptions`() async throws {
        let root = try Authority()
        let options = try NginxPeer.Options(identity: root.intermediate().issue(.server("localhost"))).with {
            $0.files = ["file.txt": Data("content".utf8)]
            $0.protocols = ["TLSv1.2"]
        }
        let peer = try NginxPeer(options)
        var wish = TestClient.Wish(anchor: root.certificate)
        let first = try TestClient(port: peer.port)
        try #require(first.startTLS(wish))
        #expect(first.get("/file.txt", until: "content").hasSuffix("content"))
        #expect(first.get("/other", until: "hello").hasSuffix("hello"))
        wish.session = first.session()
        defer { SSL_SESSION_free(wish.session) }
        let second = try TestClient(port: peer.port)
        try #require(second.startTLS(wish))
        #expect(second.get("/", until: "hello").hasSuffix("hello"))
        let entries = await peer.entries(3)
        #expect(entries.map(\.target) == ["/file.txt", "/other", "/"] && peer.connections == 2)
        #expect(entries.map(\.isResumed) == [false, false, true])
        #expect(
            entries.allSatisfy { $0.serverName == "localhost" && $0.tls == "TLSv1.2" && $0.status == 200 }
        )
    }

    @Test func `a configuration that nginx refuses is an error`() throws {
        let identity = try Identity.selfSigned(.server("localhost"))
        #expect(throws: ServerError.self) {
            try NginxPeer(.init(identity: identity).with { $0.directives = "nonsense;" })
        }
    }
}
