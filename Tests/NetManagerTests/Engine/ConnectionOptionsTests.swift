import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import TestServer
import Testing

@testable import NetManager

@Suite struct ConnectionOptionsTests {
    private func fetch(
        _ url: String,
        on transport: CurlTransport = CurlTransport(),
        policy: SecurityPolicy = .default,
        _ change: (inout ConnectionOptions) -> Void
    ) async throws -> HTTPResponse {
        var context = TransportContext(policy: policy, deadline: .now + .seconds(10))
        change(&context.connection)
        let response = try await transport.send(
            HTTPRequest(url: try #require(URL(string: url))),
            context: context
        )
        return HTTPResponse(head: response.head, body: try await response.body.collect())
    }

    @Test func `a unix socket stands in for host and port`() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/nm-\(UUID().uuidString.prefix(8)).sock"
        let server = try TestServer(options: ServerOptions().with { $0.listen = .unixSocket(path) }) {
            .text($0.headers["Host"] ?? "")
        }
        let response = try await fetch("http://docker/version") { $0.unixSocketPath = path }
        #expect(String(decoding: response.body, as: UTF8.self) == "docker")
        #expect(server.counters.requests == 1)
    }

    @Test func `an override connects elsewhere and keeps the name`() async throws {
        let pinned = try PinnedServer { .text($0.headers["Host"] ?? "") }
        let port = pinned.server.port
        let policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [pinned.certificate],
            allowInvalidCertificates: true,
            validatesDomainName: false
        )
        let response = try await fetch("https://api.example.test/", policy: policy) {
            $0.overrides = [.init(host: "api.example.test", toHost: "127.0.0.1", toPort: port)]
        }
        #expect(String(decoding: response.body, as: UTF8.self) == "api.example.test")
        // The name that is checked is the URL's, not that of the place.
        let error = try await failure {
            _ = try await fetch("https://api.example.test/", policy: pinned.pinned) {
                $0.overrides = [.init(host: "api.example.test", toHost: "127.0.0.1", toPort: port)]
            }
        }
        guard case .untrustedServer(.domainMismatch) = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `an override that is refused leaves nothing of those before it in memory`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer { _ in .text("") }
            let transport = CurlTransport()
            var context = TransportContext()
            let host = String(repeating: "h", count: 64 << 10)
            context.connection.overrides = [
                .init(host: host, toHost: "127.0.0.1"), .init(host: "h", toHost: ""),
            ]
            let (refused, request) = (context, HTTPRequest(url: try #require(URL(string: server.url()))))
            @Sendable func refuse(_ count: Int) async throws {
                for _ in 0..<count {
                    let error = await requestError { _ = try await transport.send(request, context: refused) }
                    try #require(error?.label == "invalid_configuration")
                }
            }
            try await refuse(20)
            let size = try memory("VmRSS")
            try await refuse(500)
            let growth = try memory("VmRSS") - size
            try #require(isSanitized || growth < 8 << 20, "\(growth) bytes are left")
        }
    }

    @Test func `private addresses are refused when asked, on new and on kept connections`() async throws {
        let server = try TestServer { _ in .text("inner") }
        let transport = CurlTransport()
        _ = try await fetch(server.url(), on: transport) { _ in }
        for _ in 0..<2 {
            let error = try await failure {
                _ = try await fetch(server.url(), on: transport) { $0.refusesPrivateAddresses = true }
            }
            guard case .cannotConnect = error.kind else {
                Issue.record("\(error)")
                return
            }
            // Later versions of libcurl try the other family first.
            #expect(["127.0.0.1", "::1"].contains { error.description.contains("its address \($0) is") })
        }
        #expect(server.counters.requests == 1)
    }

    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.168.0.1", "198.19.0.1", "224.0.0.1", "255.255.255.255", "::", "::1",
        "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::", "fc00::1", "fd12::1", "fe80::1", "ff02::1",
        "2001:db8::1",
    ])
    func `an inner address is special`(text: String) throws {
        #expect(try #require(IPAddress(text: text)).isSpecial)
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.167.0.1",
        "198.20.0.1", "223.255.255.255", "2606:4700::1111", "::ffff:8.8.8.8", "2a00::1",
    ])
    func `a public address is not`(text: String) throws {
        #expect(!(try #require(IPAddress(text: text)).isSpecial))
    }

    @Test func `the environment's proxies are read as curl reads them`() throws {
        func proxy(_ scheme: String, _ environment: [String: String]) throws -> ResolvedProxy {
            try ResolvedProxy(.environment, scheme: scheme, host: "h.test", environment: environment)
        }
        #expect(try proxy("http", ["http_proxy": "http://p:1"]).url == "http://p:1")
        #expect(try proxy("http", ["HTTP_PROXY": "http://p:1"]).url.isEmpty)
        #expect(try proxy("https", ["HTTPS_PROXY": "p:1"]).url == "p:1")
        #expect(try proxy("https", ["https_proxy": "a:1", "HTTPS_PROXY": "b:1"]).url == "a:1")
        #expect(try proxy("https", ["http_proxy": "p:1"]).url.isEmpty)
        #expect(try proxy("https", ["ALL_PROXY": "socks5h://p:1"]).url == "socks5h://p:1")
        #expect(try proxy("http", ["http_proxy": "p:1", "NO_PROXY": "a,b"]).url == "p:1")
        #expect(try proxy("http", ["http_proxy": "p:1", "NO_PROXY": "a,.test"]).url.isEmpty)
        #expect(try proxy("http", ["http_proxy": "p:1", "no_proxy": "a", "NO_PROXY": "*"]).url == "p:1")
        #expect(throws: TransferFailure.self) { try proxy("https", ["https_proxy": "https://p:1"]) }
    }

    @Test(arguments: ["http://p", "ada:secret@p", "p/x", ""])
    func `a proxy's host that is more than one is refused, and not repeated`(host: String) {
        let error = #expect(throws: TransferFailure.self) {
            try ResolvedProxy(.http(host: host, port: 1), scheme: "http", host: "h", environment: [:])
        }
        guard case .invalidConfiguration(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.contains("secret"))
    }

    @Test func `a message that may quote the proxy's URL is not shown when that holds a password`() throws {
        let open = try ResolvedProxy(
            .environment,
            scheme: "http",
            host: "h",
            environment: ["http_proxy": "http://p:1"]
        )
        let closed = try ResolvedProxy(
            .environment,
            scheme: "http",
            host: "h",
            environment: ["http_proxy": "http://u:pw@p:x"]
        )
        let message = "Unsupported proxy syntax in 'http://u:pw@p:x': Port number was not a decimal number"
        #expect(closed.mayBeQuoted(in: message))
        #expect(!closed.mayBeQuoted(in: "Failed to connect to 127.0.0.1"))
        #expect(!open.mayBeQuoted(in: message))
    }

    @Test func `a guard against private addresses and a proxy exclude each other`() async throws {
        let error = try await failure {
            _ = try await fetch("http://h.test/") {
                $0.proxy = .http(host: "127.0.0.1", port: 9)
                $0.refusesPrivateAddresses = true
            }
        }
        guard case .invalidConfiguration = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `case 515: an attempt tells what it cost`() async throws {
        let pinned = try PinnedServer(.tls13 ... .tls13) { _ in .text("hello") }
        let transport = CurlTransport()
        let recorder = MetricsRecorder()
        for _ in 0..<2 {
            var context = TransportContext(policy: pinned.pinned)
            context.metrics = recorder
            let request = HTTPRequest(
                .post,
                url: try #require(URL(string: pinned.server.url())),
                body: .data(Data("abc".utf8))
            )
            _ = try await transport.send(request, context: context).body.collect()
        }
        let metrics = recorder.metrics
        #expect(metrics.count == 2)
        #expect(metrics.map(\.isConnectionReused) == [false, true])
        let first = try #require(metrics.first)
        #expect(first.tls > .zero)
        #expect(first.total >= first.firstByte)
        #expect(first.bodyBytesSent == 3)
        #expect(first.bodyBytesReceived == 5)
        #expect(first.remotePort == pinned.server.port)
        #expect(first.tlsVersion == "TLSv1.3")
        #expect(first.version == .http1_1)
        #expect(first.trust?.basis == .pinnedCertificate)
    }
}
