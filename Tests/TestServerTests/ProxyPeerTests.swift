import FoundationEssentials
import HTTPMessage
import TestPKI
import TestServer
import Testing

struct ProxyPeerTests {
    @Test func `a tunnel is opened for those who know the password`() async throws {
        let server = try TestServer { _ in .text("through") }
        let proxy = try ProxyPeer(credentials: .init(user: "u", password: "p"))
        let client = try TestClient(port: proxy.port)
        client.send("CONNECT api.test:\(server.port) HTTP/1.1\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 407"))
        client.send("CONNECT api.test:\(server.port) HTTP/1.1\r\nProxy-Authorization: Basic dTpw\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(client.get("/inside", until: "through").hasSuffix("through"))
        #expect(proxy.refusals == 1 && proxy.passages.map(\.host) == ["api.test"])
        #expect(proxy.passages.first?.means == .connect && server.requests.first?.target == "/inside")
    }

    @Test func `an absolute target is forwarded without the proxy's own fields`() async throws {
        let server = try TestServer { .text($0.text) }
        let proxy = try ProxyPeer()
        let client = try TestClient(port: proxy.port)
        let target = "http://api.test:\(server.port)/a?b"
        client.send("POST \(target) HTTP/1.1\r\nProxy-Authorization: x\r\nContent-Length: 3\r\n\r\nabc")
        #expect(client.read().hasSuffix("abc"))
        #expect(server.requests.first?.target == "/a?b")
        #expect(server.requests.first?.headers["Proxy-Authorization"] == nil)
        #expect(proxy.passages.first?.means == .forward)
    }

    @Test func `a proxy speaks TLS itself`() async throws {
        let root = try Authority()
        let server = try TestServer { _ in .text("through") }
        let proxy = try ProxyPeer(.https(TLSOptions(identity: root.issue(.server("localhost")))))
        let client = try TestClient(port: proxy.port)
        #expect(client.startTLS(.init(anchor: root.certificate)))
        client.send("CONNECT api.test:\(server.port) HTTP/1.1\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(client.get(until: "through").hasSuffix("through"))
        #expect(proxy.counters.handshakes == 1)
    }

    @Test func `SOCKS takes names and passwords`() async throws {
        let server = try TestServer { _ in .text("through") }
        let proxy = try ProxyPeer(.socks5, credentials: .init(user: "u", password: "p"))
        let client = try TestClient(port: proxy.port)
        let port = [UInt8(server.port >> 8), UInt8(server.port & 255)]
        client.send(
            [5, 1, 2, 1, 1, UInt8(ascii: "u"), 1, UInt8(ascii: "p"), 5, 1, 0, 3, 8] + Array("api.test".utf8)
                + port
        )
        #expect(client.take(14) == [5, 2, 1, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        #expect(client.get(until: "through").hasSuffix("through"))
        #expect(
            proxy.passages.first?.means == .socks(byName: true) && proxy.passages.first?.host == "api.test"
        )
    }

    @Test func `a refusing proxy opens nothing`() async throws {
        let proxy = try ProxyPeer(refusal: 403)
        let client = try TestClient(port: proxy.port)
        client.send("CONNECT api.test:1 HTTP/1.1\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 403"))
        #expect(proxy.passages.isEmpty)
    }
}
