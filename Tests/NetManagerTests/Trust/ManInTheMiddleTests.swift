import FoundationEssentials
import HTTPMessage
import NetManager
import SecurityPolicy
import TestPKI
import TestServer
import Testing

/// What pinning is for: somebody in the middle whose authority the machine trusts.
@Suite(.enabled(if: MitmproxyPeer.isInstalled, "there is no interceptor; see scripts/test"))
struct ManInTheMiddleTests {
    @Test(arguments: [SecurityPolicy.PinningMode.certificate, .publicKey])
    func `an interceptor reads a request without pins and nothing of one with pins`(
        mode: SecurityPolicy.PinningMode
    ) async throws {
        let interceptor = try await MitmproxyPeer()
        let root = try Authority()
        let identity = try root.issue(.server("localhost"))
        let server = try TestServer(tls: TLSOptions(identity: identity)) { _ in .json("{}") }
        let serverRoot = try Certificate(der: root.certificate.der)
        let anchors = Set(try Certificate.load(contentsOf: interceptor.authorityFile) + [serverRoot])
        var policy = SecurityPolicy(trustAnchors: .certificates(anchors))
        let transport = CurlTransport()

        func post(_ secret: String, directly: Bool = false) async throws {
            var context = TransportContext(policy: policy, deadline: .now + .seconds(60))
            if !directly { context.connection.proxy = .http(host: "127.0.0.1", port: interceptor.port) }
            let url = try #require(URL(string: server.url("/\(secret)")))
            let request = HTTPRequest(.post, url: url, body: .data(Data(secret.utf8)))
            _ = try await transport.send(request, context: context).body.collect()
        }

        // The trusted authority is enough for a request without pins: all of it is read.
        try await post("open")
        let read = "REQUEST POST \(server.url("/open")) open"
        #expect(await interceptor.words(until: 1, of: "REQUEST") == [read])
        #expect(server.counters.requests == 1)

        policy.pinningMode = mode
        for pin in [try Certificate(der: identity.certificateDER), serverRoot] {
            policy.pinnedCertificates = [pin]
            let error = try await failure { try await post("pinned") }
            guard case .untrustedServer(.pinMismatch) = error.kind else {
                Issue.record("\(error)")
                return
            }
            // The same request is answered where nobody is in the middle.
            try await post("direct", directly: true)
        }
        // In the order of events, so nothing of the refused requests can still be under way.
        let words = await interceptor.words(until: 2, of: "REFUSED")
        #expect(words == [read, "REFUSED localhost", "REFUSED localhost"])
        #expect(server.requests.map(\.target) == ["/open", "/direct", "/direct"])
    }
}
