import HTTPMessage
import NetManager
import SecurityPolicy
import TestServer
import Testing

/// Policies by host, and reports of what they refuse.
@Suite struct HostPolicyTests {
    private func manager(
        _ hosts: [String: SecurityPolicy],
        mustBeEvaluated: Bool = false,
        _ change: (inout HTTPSessionManager.Configuration) -> Void = { _ in }
    ) throws -> HTTPSessionManager {
        var policies: [HostPattern: SecurityPolicy] = [:]
        for (pattern, policy) in hosts { policies[try #require(HostPattern(pattern))] = policy }
        var configuration = HTTPSessionManager.Configuration()
        configuration.hostPolicies = HostPolicies(policies, allHostsMustBeEvaluated: mustBeEvaluated)
        change(&configuration)
        return HTTPSessionManager(configuration, transport: CurlTransport())
    }

    @Test func `each host is judged by its own policy`() async throws {
        let pinned = try PinnedServer()
        let right = try manager(["localhost": pinned.pinned])
        _ = try await right.get(pinned.server.url())
        let wrong = try manager(["localhost": try PinnedServer.strictAboutAnother(.certificate)])
        let error = try await failure { _ = try await wrong.get(pinned.server.url()) }
        guard case .untrustedServer(.pinMismatch) = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `case 88: a redirect is judged by the policy of the host it leads to`() async throws {
        let target = try PinnedServer { _ in .json("\"reached\"") }
        let start = try PinnedServer { _ in .redirect(to: "https://127.0.0.1:\(target.server.port)/") }
        let manager = try manager([
            "localhost": start.pinned, "127.0.0.1": try PinnedServer.strictAboutAnother(.certificate),
        ])
        let error = try await failure { _ = try await manager.get(start.server.url()) }
        guard case .untrustedServer = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(start.server.counters.requests == 1)
        #expect(target.server.counters.requests == 0)
    }

    @Test func `a host that must have a policy and has none is not contacted`() async throws {
        let pinned = try PinnedServer()
        let manager = try manager(["other.test": pinned.pinned], mustBeEvaluated: true)
        let error = try await failure { _ = try await manager.get(pinned.server.url()) }
        guard case .invalidConfiguration = error.kind else {
            Issue.record("\(error)")
            return
        }
        #expect(pinned.server.counters.connections == 0)
    }

    @Test func `a refusal is reported with what was sent and what was expected`() async throws {
        let pinned = try PinnedServer()
        let (reports, report) = AsyncStream<TrustReport>.makeStream()
        let other = try PinnedServer.strictAboutAnother(.publicKey)
        let manager = try manager(["localhost": other]) { $0.trustObserver = { report.yield($0) } }
        _ = try await failure { _ = try await manager.get(pinned.server.url()) }
        var iterator = reports.makeAsyncIterator()
        let seen = try #require(await iterator.next())
        #expect(seen.host == "localhost")
        #expect(seen.port == pinned.server.port)
        #expect(!seen.isAudit)
        #expect(seen.presentedPins == [pinned.certificate.publicKeyPin])
        #expect(seen.expectedPins == other.pinnedCertificates.map(\.publicKeyPin))
        #expect(seen.sentChain.count == 1)
    }

    @Test func `a policy under audit lets pass what the system accepts, and reports it`() async throws {
        let pinned = try PinnedServer()
        var audit = try PinnedServer.strictAboutAnother(.publicKey)
        audit.allowInvalidCertificates = false
        audit.pinEnforcement = .audit
        audit.trustAnchors = .certificates([pinned.certificate])
        let (reports, report) = AsyncStream<TrustReport>.makeStream()
        let manager = try manager(["localhost": audit]) { $0.trustObserver = { report.yield($0) } }
        _ = try await manager.get(pinned.server.url())
        var iterator = reports.makeAsyncIterator()
        #expect(await iterator.next()?.isAudit == true)
        // What the system would not accept does not pass.
        audit.trustAnchors = .system
        let strict = try self.manager(["localhost": audit])
        let error = try await failure { _ = try await strict.get(pinned.server.url()) }
        guard case .untrustedServer = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `pins are replaced at run time without a restart`() async throws {
        let pinned = try PinnedServer()
        let manager = HTTPSessionManager(
            .init(securityPolicy: try PinnedServer.strictAboutAnother(.publicKey)),
            transport: CurlTransport()
        )
        _ = try await failure { _ = try await manager.get(pinned.server.url()) }
        manager.securityPolicy = pinned.pinnedKey
        _ = try await manager.get(pinned.server.url())
        manager.securityPolicy = try PinnedServer.strictAboutAnother(.publicKey)
        let error = try await failure { _ = try await manager.get(pinned.server.url()) }
        guard case .untrustedServer = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `the pins of a refusal stand on lines of their own, ready to paste`() async throws {
        let pinned = try PinnedServer()
        let manager = try manager(["localhost": try PinnedServer.strictAboutAnother(.publicKey)])
        let error = try await failure { _ = try await manager.get(pinned.server.url()) }
        let lines = "\(error)".split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(lines.contains(Substring(pinned.certificate.publicKeyPin.description)))
    }
}
