import HTTPMessage
import NetManager
import SecurityPolicy
import TestPKI
import TestServer
import Testing

/// One name behind which some servers speak HTTP/2 and some do not, as while a service is being renewed.
@Suite(.enabled(if: NginxPeer.isInstalled, "nginx is installed by scripts/test"))
struct MixedVersionsTests {
    /// A server that speaks HTTP/1.1 and one that speaks HTTP/2 behind one name, and managers of two policies over one
    /// transport, so that they have connections of their own.
    private struct Service {
        let gate = Gate()
        let old: TestServer
        let peer: SwitchPeer
        let pinned: HTTPSessionManager
        let lenient: HTTPSessionManager
        private let new: NginxPeer

        /// Starts the servers.
        /// - Parameter oldFirst: Which of the first two connections leads to which server; later ones lead to the old one.
        /// - Throws: What keeps a server from starting.
        init(oldFirst: Bool) throws {
            let identity = try Identity.selfSigned(PinnedServer.certificateOptions)
            old = try TestServer(tls: TLSOptions(identity: identity)) { [gate] request in
                let answer = Answer.text(request.path)
                return request.path == "/slow" ? answer.holdingBody(until: gate) : answer
            }
            new = try NginxPeer(.init(identity: identity))
            peer = try SwitchPeer(oldFirst ? [old.port, new.port, old.port] : [new.port, old.port])
            let transport = CurlTransport()
            func manager(_ policy: SecurityPolicy) -> HTTPSessionManager {
                var configuration = HTTPSessionManager.Configuration(securityPolicy: policy)
                configuration.timeout = .seconds(20)
                return HTTPSessionManager(configuration, transport: transport)
            }
            let own = try Certificate(der: identity.certificateDER)
            pinned = manager(
                SecurityPolicy(
                    pinningMode: .publicKey,
                    pinnedCertificates: [own],
                    allowInvalidCertificates: true
                )
            )
            lenient = manager(PinnedServer.lenient)
        }

        /// Makes a connection over HTTP/2, of the other policy, that stays among the idle ones.
        func connectToNew() async throws {
            let url = try #require(URL(string: peer.url("/first")))
            #expect(try await lenient.send(HTTPRequest(url: url)).head.version == .http2)
        }
    }

    @Test(arguments: [false, true])
    func `a connection over HTTP 1 that is in use carries no second request`(oldFirst: Bool) async throws {
        let service = try await started { try Service(oldFirst: oldFirst) }
        if !oldFirst { try await service.connectToNew() }
        async let slow = service.pinned.get(service.peer.url("/slow"), as: .string)
        #expect(await service.old.until { $0.requests == 1 })
        if oldFirst { try await service.connectToNew() }
        for number in 0..<3 {
            let text = try await service.pinned.get(service.peer.url("/\(number)"), as: .string)
            #expect(text == "/\(number)")
        }
        service.gate.open()
        #expect(try await slow == "/slow")
        #expect(service.old.counters.connections == 2)
    }
}
