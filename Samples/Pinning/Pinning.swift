// Shows: pinning a certificate, and pinning a key. A key outlives the renewal of its certificate; a certificate
// pin does not. What is not pinned is refused before a byte of the request is sent.
import Glibc
import NetManager
import TestPKI
import TestServer

@main
struct Pinning {
    static func main() async throws {
        let options = CertificateOptions.server("localhost").with { $0.subject.commonName = "Pinning" }
        let identity = try Identity.selfSigned(options)
        // The same key in a new certificate, as every year.
        let renewed = try Identity.selfSigned(options.with { $0.key = .existing(identity.key) })
        // Without resumption, in which a server shows no certificate.
        let tls = TLSOptions(identity: identity).with { $0.resumption = .refused }
        let server = try TestServer(tls: tls) { _ in .json(#"{"hello": true}"#) }
        defer { server.stop() }

        // What `netman pins` prints, and what is in a file, come to the same.
        let certificate = try Certificate(der: identity.certificateDER)
        print("pin: \(certificate.publicKeyPin)")
        let byCertificate = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [certificate],
            allowInvalidCertificates: true  // no authority vouches for it: the pin does
        )
        let byKey = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedPublicKeys: [certificate.publicKeyPin],
            allowInvalidCertificates: true
        )
        try await expect(server, byCertificate, "certificate pinned", isTrusted: true)
        try await expect(server, byKey, "key pinned", isTrusted: true)
        try await expect(server, .default, "nothing pinned", isTrusted: false)

        try server.present(renewed)
        server.closeConnections()
        try await expect(server, byCertificate, "certificate pinned, renewed", isTrusted: false)
        try await expect(server, byKey, "key pinned, renewed", isTrusted: true)
        guard server.requests.count == 3 else { exit(1) }
    }

    static func expect(
        _ server: TestServer,
        _ policy: SecurityPolicy,
        _ what: String,
        isTrusted: Bool
    ) async throws {
        // A manager of its own for each policy would do as well: connections never cross policies.
        var options = RequestOptions()
        options.securityPolicy = policy
        do {
            let json = try await HTTPSessionManager.shared.get(server.url(), options: options)
            print("\(what): \(json)")
            guard isTrusted else { exit(1) }
        } catch let error as RequestError {
            guard case .untrustedServer(let reason) = error.kind, !isTrusted else { throw error }
            print("\(what): refused, \(reason)")
        }
    }
}
