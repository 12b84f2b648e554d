import FoundationEssentials
import HTTPMessage
import TestPKI
import TestServer
import Testing

@testable import NetManager

@Suite struct HeaderListTests {
    private static func entries(
        _ headers: HTTPHeaders,
        hasBody: Bool = false,
        codings: String? = "gzip",
        host: String? = nil
    ) -> [String] {
        HeaderList.entries(of: headers, hasBody: hasBody, codings: codings, host: host)
    }

    @Test func `what libcurl need not know of shares the entry of the codings, in its order`() {
        var headers: HTTPHeaders = ["User-Agent": "app", "X-A": "1"]
        headers.add("2", for: "X-A")
        #expect(Self.entries(headers) == ["Accept-Encoding: gzip\r\nUser-Agent: app\r\nX-A: 1\r\nX-A: 2"])
    }

    @Test func `what libcurl looks for has an entry of its own, however it is spelled`() {
        let headers: HTTPHeaders = ["cOOKIE": "a=b", "X-A": "1", "HOST": "h", "Authorization": "Bearer t"]
        #expect(
            Self.entries(headers)
                == ["cOOKIE: a=b", "HOST: h", "Authorization: Bearer t", "Accept-Encoding: gzip\r\nX-A: 1"]
        )
    }

    @Test func `without codings the first field with a value begins the entry`() {
        let headers: HTTPHeaders = ["X-Empty": "", "X-A": "1", "X-Void": "", "Accept-Encoding": "identity"]
        #expect(
            Self.entries(headers, codings: nil)
                == ["X-Empty;", "Accept-Encoding: identity", "X-A: 1\r\nX-Void:"]
        )
        #expect(Self.entries([:], codings: nil).isEmpty)
    }

    @Test func `content keeps libcurl's own type and its wait away, where nobody gave them`() {
        #expect(
            Self.entries(["Content-Type": "text/plain"], hasBody: true)
                == ["Content-Type: text/plain", "Expect:", "Accept-Encoding: gzip"]
        )
    }

    @Test func `a host that is written here comes first, and libcurl's own fields are left away`() {
        #expect(
            Self.entries(["User-Agent": "app", "Cookie": "a=b"], host: "h:81")
                == [
                    "Host:", "Accept:", "Accept-Encoding:",
                    "Host: h:81\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nUser-Agent: app", "Cookie: a=b",
                ]
        )
        #expect(
            Self.entries(["Accept": "text/html", "Accept-Encoding": "br"], codings: nil, host: "h")
                == ["Host:", "Host: h", "Accept: text/html", "Accept-Encoding: br"]
        )
    }

    @Test func `a host that the caller writes is the only one`() {
        #expect(
            Self.entries(["X-A": "1", "host": "other"], host: "h")
                == ["host: other", "Accept-Encoding: gzip\r\nX-A: 1"]
        )
    }

    @Test func `a handle that is used again names the host of each request, first and once`() async throws {
        let servers = (try TestServer { _ in .text("a") }, try TestServer { _ in .text("b") })
        let transport = CurlTransport()
        let (first, second) = (servers.0.url(), servers.1.url())
        let literal = first.replacing("localhost", with: "127.0.0.1")
        let urls = [
            first, first, first + "x", second, second, first, second, literal, literal, literal + "y", first,
        ]
        for url in urls {
            let server = url.hasPrefix(second) ? servers.1 : servers.0
            _ = try await transport.fetch(url)
            let fields = try #require(server.requests.last).headers.fields
            let host = try #require(URL(string: url)?.host())
            #expect(fields.first?.name == "Host")
            #expect(fields.filter { $0.name == "Host" }.map(\.value) == ["\(host):\(server.port)"])
            #expect(fields.filter { $0.name == "Accept" }.map(\.value) == ["*/*"])
            #expect(fields.filter { $0.name == "Accept-Encoding" }.count == 1)
        }
        _ = try await transport.fetch(first, headers: ["Host": "own.test"])
        let own = try #require(servers.0.requests.last).headers
        #expect(own[values: "Host"] == ["own.test"])
    }

    private static let fields: HTTPHeaders = [
        "X-Empty": "", "X-A": "1", "Referer": "http://r/", "X-Void": "", "X-Semicolon": "a; b",
        "User-Agent": "app",
        "X-Colon": ": ;",
    ]

    @Test func `every field arrives once, with its value`() async throws {
        let server = try TestServer { _ in .text("x") }
        var fields = Self.fields
        fields.add("2", for: "x-a")
        _ = try await CurlTransport().fetch(.post, server.url(), headers: fields, body: .data(Data("b".utf8)))
        let received = try #require(server.requests.last).headers
        for name in ["X-Empty", "Referer", "X-Void", "X-Semicolon", "User-Agent", "X-Colon", "X-A"] {
            #expect(received[values: name] == fields[values: name], "\(name)")
        }
        #expect(received[values: "Accept-Encoding"].count == 1)
        #expect(received["Content-Type"] == nil)
    }

    @Test(.enabled(if: NginxPeer.isInstalled, "nginx is not installed"))
    func `every field arrives over HTTP/2 too`() async throws {
        let names = ["empty", "a", "void", "semicolon", "colon"].map { "$http_x_\($0)" }
        let shown = (names + ["$http_referer", "$http_user_agent", "$http_accept_encoding", "$http_host"])
            .joined(
                separator: "|"
            )
        let options = CertificateOptions.server(.dns("localhost"))
            .with { $0.subject = .init(commonName: "localhost") }
        let nginx = try NginxPeer(
            .init(identity: try Identity.selfSigned(options)).with {
                $0.directives = "location = /echo { return 200 '\(shown)'; }"
            }
        )
        let codings = try #require(CurlLibrary.acceptEncoding)
        let transport = CurlTransport()
        // The handle's second request to a host names it in another way than the first.
        for _ in 0..<3 {
            let response =
                try await transport
                .fetch(nginx.url("/echo"), headers: Self.fields, policy: PinnedServer.lenient)
            #expect(response.head.version == .http2)
            let shown = "|1||a; b|: ;|http://r/|app|\(codings)|localhost:\(nginx.port)"
            #expect(String(decoding: response.body, as: UTF8.self) == shown)
        }
    }
}
