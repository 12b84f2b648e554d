// Shows: requests through a proxy. TLS goes through it to the server, whose pins are checked as ever; the proxy
// sees the name of the host and nothing else.
import Glibc
import NetManager
import TestPKI
import TestServer

@main
struct ThroughProxy {
    static func main() async throws {
        let options = CertificateOptions.server("api.example.com").with {
            $0.subject.commonName = "api.example.com"
        }
        let identity = try Identity.selfSigned(options)
        let server = try TestServer(tls: TLSOptions(identity: identity)) { _ in
            .json(#"{"behind": "a proxy"}"#)
        }
        let proxy = try ProxyPeer(.http, credentials: .init(user: "ada", password: "secret"))
        defer {
            proxy.stop()
            server.stop()
        }

        var configuration = HTTPSessionManager.Configuration()
        configuration.securityPolicy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try Certificate(der: identity.certificateDER)],
            allowInvalidCertificates: true
        )
        configuration.connection.proxy = .http(
            host: "127.0.0.1",
            port: proxy.port,
            credentials: .init(user: "ada", password: "secret")
        )
        // Hosts that are reached without the proxy, as in NO_PROXY.
        configuration.connection.proxy.exceptions = ["localhost", ".internal.example"]
        let manager = HTTPSessionManager(configuration)

        // The proxy resolves the name; this one leads to the server on this machine.
        let json = try await manager.get("https://api.example.com:\(server.port)/")
        print("through the proxy: \(json)")
        for passage in proxy.passages {
            print("the proxy saw: \(passage.means) \(passage.host):\(passage.port)")
        }
        guard proxy.passages.map(\.host) == ["api.example.com"], json["behind"] == "a proxy" else { exit(1) }

        do {
            _ = try await manager.get(server.url())
            exit(1)
        } catch let error as RequestError {
            // Not through the proxy, and the pinned certificate is for another name.
            guard case .untrustedServer(.domainMismatch) = error.kind else { throw error }
            print("directly: \(error)")
        }
        guard proxy.passages.count == 1 else { exit(1) }
    }
}
