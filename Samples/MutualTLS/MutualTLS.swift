// Shows: a client that proves who it is with a certificate (mutual TLS), to a server whose authority is pinned.
import Glibc
import NetManager
import TestPKI
import TestServer

@main
struct MutualTLS {
    static func main() async throws {
        let root = try Authority(commonName: "Company Root")
        let serverOptions = CertificateOptions.server("localhost").with {
            $0.subject.commonName = "localhost"
        }
        var tls = TLSOptions(identity: try root.issue(serverOptions))
        tls.clientCertificates = .required(anchors: [root.certificate])
        let server = try TestServer(tls: tls) { _ in .json(#"{"welcome": true}"#) }
        defer { server.stop() }

        // In life these are files: ClientIdentity.load(…) reads PEM and PKCS#12 (.p12, .pfx), with passwords too.
        let issued = try root.issue(.client(commonName: "worker-7"))
        let pem = Data((issued.certificatePEM + (try issued.key.pem(password: "secret"))).utf8)
        let identity = try ClientIdentity(pem: pem, password: "secret")

        var configuration = HTTPSessionManager.Configuration()
        configuration.securityPolicy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try Certificate(der: root.certificate.der)],
            allowInvalidCertificates: true
        )
        let manager = HTTPSessionManager(configuration)
        do {
            _ = try await manager.get(server.url())
            exit(1)
        } catch let error as RequestError {
            guard case .clientCertificateRefused = error.kind else { throw error }
            print("without a certificate: \(error)")
        }
        manager.updateConfiguration { $0.clientIdentity = identity }
        print("as worker-7: \(try await manager.get(server.url()))")
        guard server.requests.count == 1 else { exit(1) }
    }
}
