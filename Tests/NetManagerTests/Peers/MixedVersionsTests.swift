import HTTPMessage
import NetManager
import SecurityPolicy
import TestPKI
import TestServer
import Testing

/// One name behind which some servers speak HTTP/2 and some do not, as while a service is being renewed.
@Suite(.enabled(if: NginxPeer.isInstalled, "nginx is installed by scripts/test"))
struct MixedVersionsTests {
    @Test func `a connection over HTTP 1 that is in use carries no second request`() async throws {
        let gate = Gate()
        let identity = try Identity.selfSigned(PinnedServer.certificateOptions)
        let old = try TestServer(tls: TLSOptions(identity: identity)) { request in
            let answer = Answer.text(request.path)
            return request.path == "/slow" ? answer.holdingBody(until: gate) : answer
        }
        let new = try NginxPeer(.init(identity: identity))
        let peer = try SwitchPeer([new.port, old.port])
        let transport = CurlTransport()
        func manager(_ policy: SecurityPolicy) -> HTTPSessionManager {
            var configuration = HTTPSessionManager.Configuration(securityPolicy: policy)
            configuration.timeout = .seconds(20)
            return HTTPSessionManager(configuration, transport: transport)
        }
        // A connection over HTTP/2, of another policy, stays among the idle ones.
        let url = try #require(URL(string: peer.url("/first")))
        let first = try await manager(PinnedServer.lenient).send(HTTPRequest(url: url))
        #expect(first.head.version == .http2)
        let own = try Certificate(der: identity.certificateDER)
        let other = manager(
            SecurityPolicy(pinningMode: .publicKey, pinnedCertificates: [own], allowInvalidCertificates: true)
        )
        async let slow = other.get(peer.url("/slow"), as: .string)
        #expect(await old.until { $0.requests == 1 })
        for number in 0..<3 {
            let text = try await other.get(peer.url("/\(number)"), as: .string)
            #expect(text == "/\(number)")
        }
        gate.open()
        #expect(try await slow == "/slow")
        #expect(old.counters.connections == 2)
    }
}
