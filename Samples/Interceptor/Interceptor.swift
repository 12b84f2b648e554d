// Shows: what pinning is for. An interceptor (mitmproxy) stands between a client and a server, and the client's machine
// trusts the interceptor's authority. It reads a request without pins. A pinned one is refused before a byte is sent,
// whether the certificate or the key is pinned.
//
//   scripts/demo --interceptor    installs the interceptor and starts this program
//   INTERCEPTOR=/path/to/mitmdump Interceptor
import Glibc
import NetManager
import TestPKI
import TestServer

@main
struct Interceptor {
    static func main() async throws {
        // The real server, and the one in the middle.
        let authority = try Authority(commonName: "The Server's Authority")
        let identity = try authority.issue(.server("localhost"))
        let server = try TestServer(tls: TLSOptions(identity: identity)) { _ in .json(#"{"balance": 100}"#) }
        let interceptor = try await MitmproxyPeer()

        // A machine whose trust store has the interceptor's authority, as on many company networks.
        let trusted = Set(
            try Certificate.load(contentsOf: interceptor.authorityFile)
                + Certificate.certificates(in: authority.certificate.der)
        )
        var configuration = HTTPSessionManager.Configuration()
        configuration.securityPolicy.trustAnchors = .certificates(trusted)
        configuration.connection.proxy = .http(host: "127.0.0.1", port: interceptor.port)
        let manager = HTTPSessionManager(configuration)

        let open = try await manager.post(server.url("/login"), parameters: ["password": "open"])
        let read = await interceptor.words(until: 1, of: "REQUEST")
        report("without pins, answered", "\(open)", open == ["balance": 100])
        report("  the interceptor read", "\(read)", read.count == 1 && read[0].hasSuffix("password=open"))

        let own = try Certificate(der: identity.certificateDER)
        for mode in [SecurityPolicy.PinningMode.certificate, .publicKey] {
            manager.securityPolicy.pinningMode = mode
            manager.securityPolicy.pinnedCertificates = [own]
            let error = await refusal(by: manager, server.url("/login"))
            guard case .untrustedServer(.pinMismatch)? = error?.kind else {
                return report("pinned by \(mode)", "\(error, default: "was answered")", false)
            }
            report("pinned by \(mode), refused", "\(error, default: "")", true)
        }
        // It tells of things in their order: what it had read of the refused requests would stand before.
        let words = await interceptor.words(until: 2, of: "REFUSED")
        report("  the interceptor was", "\(words.dropFirst())", words.count == 3)

        manager.configuration.connection.proxy = .none
        let direct = try await manager.post(server.url("/login"), parameters: ["password": "pinned"])
        report("pinned, nobody in the middle", "\(direct)", direct == ["balance": 100])
    }

    static func refusal(by manager: HTTPSessionManager, _ url: String) async -> RequestError? {
        do { _ = try await manager.post(url, parameters: ["password": "pinned"]) } catch {
            return error as? RequestError
        }
        return nil
    }

    /// Prints an outcome, and ends the program if it is not the one that must come out.
    static func report(_ what: String, _ outcome: String, _ isRight: Bool) {
        print("\(what): \(outcome)")
        if !isRight { exit(1) }
    }
}
