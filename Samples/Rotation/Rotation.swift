// Shows: changing a server's key without an outage, and trying pins out before they are enforced.
//
//   1. Pin the key in use and a spare one that is kept offline (netman backup-key).
//   2. The server takes the spare key: clients that have both pins notice nothing.
//   3. New pins are audited first: a server that they do not fit passes, and is reported.
import Glibc
import NetManager
import Synchronization
import TestPKI
import TestServer

@main
struct Rotation {
    static func main() async throws {
        let root = try Authority(commonName: "Rotation Root")
        let options = CertificateOptions.server("localhost").with { $0.subject.commonName = "localhost" }
        let spare = try PrivateKey()
        let now = try root.issue(options)
        let later = try root.issue(options.with { $0.key = .existing(spare) })
        // Without resumption, in which a server shows no certificate.
        let tls = TLSOptions(identity: now).with { $0.resumption = .refused }
        let server = try TestServer(tls: tls) { _ in .json("[]") }
        defer { server.stop() }

        let pins = try [now.key, spare].compactMap { PublicKeyPin(digest: try $0.publicKeySHA256) }
        let anchors = TrustAnchors.certificates([try Certificate(der: root.certificate.der)])
        var configuration = HTTPSessionManager.Configuration()
        configuration.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedPublicKeys: Set(pins),
            trustAnchors: anchors
        )
        let manager = HTTPSessionManager(configuration)
        print("before: \(try await manager.get(server.url()))")
        try server.present(later)
        server.closeConnections()
        print("after the key was changed: \(try await manager.get(server.url()))")

        // Somebody wrote the wrong pin into the new policy. Under audit that is no outage but a report.
        var audited = configuration.securityPolicy
        audited.pinnedPublicKeys = Set(
            [PublicKeyPin(digest: try PrivateKey().publicKeySHA256)].compactMap { $0 }
        )
        audited.pinEnforcement = .audit
        let (reports, reporter) = AsyncStream<TrustReport>.makeStream()
        manager.updateConfiguration {
            $0.securityPolicy = audited
            $0.trustObserver = { reporter.yield($0) }
        }
        print("under audit: \(try await manager.get(server.url()))")
        var iterator = reports.makeAsyncIterator()
        guard let report = await iterator.next() else { exit(1) }
        print("report: \(report.host):\(report.port), presented \(report.presentedPins)")

        manager.updateConfiguration { $0.securityPolicy.pinEnforcement = .enforced }
        do {
            _ = try await manager.get(server.url())
            exit(1)
        } catch let error as RequestError {
            guard case .untrustedServer(.pinMismatch) = error.kind else { throw error }
            print("enforced: refused")
        }
        guard report.isAudit, server.requests.count == 3 else { exit(1) }
    }
}
