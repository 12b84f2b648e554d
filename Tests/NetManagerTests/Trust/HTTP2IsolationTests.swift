import FoundationEssentials
import HTTPMessage
import NetManager
import SecurityPolicy
import TestPKI
import TestServer
import Testing

/// Policies are kept apart where requests multiplex, against a real nginx that counts handshakes in its log.
@Suite(.enabled(if: NginxPeer.isInstalled, "nginx is not installed"))
struct HTTP2IsolationTests {
    /// So many requests of one policy at once: more than HTTP/1.1 would put on one connection.
    private static let many = 24

    private struct Peer {
        let nginx: NginxPeer
        let pins: SecurityPolicy

        init(_ version: TLSVersion, mode: SecurityPolicy.PinningMode, resuming: Bool = false) throws {
            let options = CertificateOptions.server(.dns("localhost")).with {
                $0.subject = .init(commonName: "localhost")
            }
            let identity = try Identity.selfSigned(options)
            nginx = try NginxPeer(
                .init(identity: identity).with {
                    $0.protocols = [version == .tls12 ? "TLSv1.2" : "TLSv1.3"]
                    guard resuming else { return }
                    // Each request has a connection of its own, so that the next one has a session to resume. With
                    // HTTP/2, nginx forgets the session of a connection that it ends this way.
                    $0.directives = "keepalive_requests 1;"
                    $0.http2 = false
                }
            )
            pins = SecurityPolicy(
                pinningMode: mode,
                pinnedCertificates: [try Certificate(der: identity.certificateDER)],
                allowInvalidCertificates: true
            )
        }
    }

    /// Whether each of several requests at once succeeds with a body, or each is refused for its policy.
    private func all(_ count: Int, _ manager: HTTPSessionManager, _ url: String) async throws -> [String: Int]
    {
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<count {
                group.addTask {
                    do {
                        let target = try #require(URL(string: url + "/\(number)"))
                        let response = try await manager.send(HTTPRequest(url: target))
                        return String(decoding: response.body, as: UTF8.self)
                    } catch let error as RequestError {
                        if case .untrustedServer = error.kind { return "untrusted" }
                        return "\(error)"
                    }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    /// A manager for each policy: the same one with its policy replaced, or one each over one transport.
    private func managers(sharing: Bool) -> (SecurityPolicy) -> HTTPSessionManager {
        let transport = CurlTransport()
        let single = HTTPSessionManager(transport: transport)
        return { policy in
            if sharing { return HTTPSessionManager(.init(securityPolicy: policy), transport: transport) }
            single.securityPolicy = policy
            return single
        }
    }

    @Test(arguments: PolicyIsolationTests.versions, [SecurityPolicy.PinningMode.certificate, .publicKey])
    func `no request multiplexes on a connection of another policy`(
        version: TLSVersion,
        mode: SecurityPolicy.PinningMode
    ) async throws {
        for sharing in [false, true] {
            let peer = try Peer(version, mode: mode)
            let manager = managers(sharing: sharing)
            let url = peer.nginx.url("")
            let strict = try PinnedServer.strictAboutAnother(mode)
            let many = Self.many

            #expect(try await all(many, manager(PinnedServer.lenient), url + "/lenient") == ["hello": many])
            #expect(try await all(many, manager(strict), url + "/strict") == ["untrusted": many])
            #expect(try await all(many, manager(.default), url + "/default") == ["untrusted": many])
            #expect(try await all(many, manager(peer.pins), url + "/pinned") == ["hello": many])
            // The lenient connection was not harmed, and the strict policy still does not ride on any.
            #expect(try await all(many, manager(PinnedServer.lenient), url + "/lenient") == ["hello": many])
            #expect(try await all(1, manager(strict), url + "/strict") == ["untrusted": 1])

            let entries = await peer.nginx.entries(3 * many)
            #expect(entries.count == 3 * many)
            #expect(Set(entries.map(\.version)) == ["HTTP/2.0"])
            #expect(Set(entries.map(\.tls)) == [version == .tls12 ? "TLSv1.2" : "TLSv1.3"])
            #expect(entries.allSatisfy { !$0.isResumed })
            let connections = Dictionary(grouping: entries, by: \.connection)
                .mapValues { Set($0.map { $0.target.split(separator: "/").first }) }
            #expect(Set(connections.values) == [["lenient"], ["pinned"]])
            #expect(connections.count == 2, "\(connections)")
        }
    }

    @Test(arguments: PolicyIsolationTests.versions, [SecurityPolicy.PinningMode.certificate, .publicKey])
    func `a session that nginx keeps is resumed inside one policy and never across two`(
        version: TLSVersion,
        mode: SecurityPolicy.PinningMode
    ) async throws {
        for sharing in [false, true] {
            let peer = try Peer(version, mode: mode, resuming: true)
            let manager = managers(sharing: sharing)
            let url = peer.nginx.url("")
            let strict = try PinnedServer.strictAboutAnother(mode)

            for policy in [PinnedServer.lenient, peer.pins] {
                for _ in 0..<2 { #expect(try await all(1, manager(policy), url) == ["hello": 1]) }
                #expect(try await all(1, manager(strict), url) == ["untrusted": 1])
                #expect(try await all(1, manager(.default), url) == ["untrusted": 1])
            }
            let entries = await peer.nginx.entries(4)
            #expect(entries.map(\.isResumed) == [false, true, false, true])
            #expect(peer.nginx.connections == 4)
        }
    }
}
