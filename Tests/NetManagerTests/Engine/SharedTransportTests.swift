import Dispatch
import FoundationEssentials
import HTTPMessage
import Locks
import NetManager
import SecurityPolicy
import TestServer
import Testing

/// Managers over one transport: what they share, and what they must not.
@Suite struct SharedTransportTests {
    private func isUntrusted(_ body: () async throws -> Void) async throws -> Bool {
        if case .untrustedServer = try await failure(body).kind { true } else { false }
    }

    @Test(arguments: PolicyIsolationTests.versions, [SecurityPolicy.PinningMode.certificate, .publicKey])
    func `a manager whose policy becomes strict leaves its lenient connections`(
        version: TLSVersion,
        mode: SecurityPolicy.PinningMode
    ) async throws {
        let pinned = try PinnedServer(version...version)
        let manager = HTTPSessionManager(transport: CurlTransport())
        manager.securityPolicy = PinnedServer.lenient
        _ = try await manager.get(pinned.server.url())
        let seen = pinned.server.counters
        for policy in [try PinnedServer.strictAboutAnother(mode), .default] {
            manager.securityPolicy = policy
            #expect(try await isUntrusted { _ = try await manager.get(pinned.server.url()) })
        }
        #expect(await pinned.server.until { $0.connections == 3 && $0.openConnections == 1 })
        #expect(pinned.server.counters.requestBytes == seen.requestBytes)
        manager.securityPolicy = PinnedServer.lenient
        _ = try await manager.get(pinned.server.url())
        #expect(pinned.server.counters.connections == 3)
    }

    @Test(arguments: PolicyIsolationTests.versions, [SecurityPolicy.PinningMode.certificate, .publicKey])
    func `two managers share connections only under equal policies`(
        version: TLSVersion,
        mode: SecurityPolicy.PinningMode
    ) async throws {
        let pinned = try PinnedServer(version...version)
        let transport = CurlTransport()
        let lenient = HTTPSessionManager(.init(securityPolicy: PinnedServer.lenient), transport: transport)
        let strict = HTTPSessionManager(
            .init(securityPolicy: try PinnedServer.strictAboutAnother(mode)),
            transport: transport
        )
        let plain = HTTPSessionManager(transport: transport)
        let right = [1, 2].map { _ in
            HTTPSessionManager(.init(securityPolicy: pinned.pinned), transport: transport)
        }
        _ = try await lenient.get(pinned.server.url())
        #expect(try await isUntrusted { _ = try await strict.get(pinned.server.url()) })
        #expect(try await isUntrusted { _ = try await plain.get(pinned.server.url()) })
        for manager in right { _ = try await manager.get(pinned.server.url()) }
        #expect(await pinned.server.until { $0.failedHandshakes == 2 })
        // One lenient, two refused, one for both managers that pin the same.
        #expect(pinned.server.counters.connections == 4)
        #expect(pinned.server.counters.handshakes == 2)
        #expect(pinned.server.counters.requests == 3)
    }

    @Test func `two managers do the same work from 64 threads`() async throws {
        let pinned = try PinnedServer { .json("{\"path\":\"\($0.path)\"}") }
        var settings = CurlTransport.Configuration()
        settings.maximumConnectionsPerHost = 8
        let transport = CurlTransport(settings)
        let managers = [1, 2].map { _ in
            HTTPSessionManager(.init(securityPolicy: pinned.pinned), transport: transport)
        }
        let url = pinned.server.url()
        let answers = Guarded<[String: Int]>([:])
        let (finished, finish) = AsyncStream<Void>.makeStream()
        let count = 64 * 8
        for thread in 0..<64 {
            DispatchQueue(label: "caller \(thread)").async {
                for call in 0..<8 {
                    let manager = managers[call % 2]
                    manager.updateConfiguration { $0.headers["X-Thread"] = "\(thread)" }
                    manager.get("\(url)\(thread)/\(call)") { _, json in
                        answers.withLock { $0[json["path"]?.string ?? "?", default: 0] += 1 }
                        finish.yield()
                    } failure: { _, error in
                        answers.withLock { $0["\(error)", default: 0] += 1 }
                        finish.yield()
                    }
                }
            }
        }
        var ended = 0
        for await _ in finished {
            ended += 1
            if ended == count { break }
        }
        let seen = answers.withLock { $0 }
        #expect(seen.count == count)
        #expect(seen.values.allSatisfy { $0 == 1 })
        #expect(seen.keys.allSatisfy { $0.hasPrefix("/") })
    }
}
