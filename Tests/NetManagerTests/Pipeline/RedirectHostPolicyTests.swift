import NetManager
import Testing

/// Redirects between hosts that have policies of their own.
@Suite struct RedirectHostPolicyTests {
    private static let pinned = SecurityPolicy(
        pinningMode: .publicKey,
        pinnedPublicKeys: Set(
            [PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")].compactMap { $0 }
        )
    )

    /// How a redirect from `https://a.test/` ends.
    private func follow(
        to location: String,
        _ hosts: [String: SecurityPolicy],
        allowsDowngrade: Bool = false,
        unused: SecurityPolicy = .default,
        mustBeEvaluated: Bool = false
    ) async throws -> (urls: [String], error: RequestError?) {
        let stub = StubTransport { request in
            request.url.host == "a.test"
                ? .empty(302, headers: ["Location": location], to: request) : .json("1", to: request)
        }
        var policies: [HostPattern: SecurityPolicy] = [:]
        for (pattern, policy) in hosts { policies[try #require(HostPattern(pattern))] = policy }
        let manager = HTTPSessionManager(stub) { [policies] in
            $0.securityPolicy = unused
            $0.hostPolicies = HostPolicies(policies, allHostsMustBeEvaluated: mustBeEvaluated)
            $0.redirectPolicy.allowsDowngrade = allowsDowngrade
        }
        let error = await requestError { _ = try await manager.get("https://a.test/") }
        return (stub.requests.map(\.url.absoluteString), error)
    }

    @Test func `a redirect to plain http is judged by the policy of the host it leads to`() async throws {
        // The manager's single policy has no say where each host has its own.
        let free = try await follow(to: "http://b.test/", [:], allowsDowngrade: true, unused: Self.pinned)
        #expect(free.error == nil)
        #expect(free.urls.last == "http://b.test/")

        let unasked = try await follow(to: "http://b.test/", [:], unused: Self.pinned)
        guard case .redirectRefused? = unasked.error?.kind else {
            Issue.record("\(String(describing: unasked.error))")
            return
        }
        let pinned = try await follow(to: "http://b.test/", ["b.test": Self.pinned], allowsDowngrade: true)
        guard case .invalidConfiguration? = pinned.error?.kind else {
            Issue.record("\(String(describing: pinned.error))")
            return
        }
        #expect(pinned.error?.response?.head.status == 302)
        #expect(unasked.urls.count == 1 && pinned.urls.count == 1)
    }

    @Test func `a server with pins leads nobody to plain http, whatever is allowed`() async throws {
        let outcome = try await follow(to: "http://b.test/", ["a.test": Self.pinned], allowsDowngrade: true)
        guard case .redirectRefused(let reason)? = outcome.error?.kind else {
            Issue.record("\(String(describing: outcome.error))")
            return
        }
        #expect(reason.contains("pinned"))
        #expect(outcome.urls.count == 1)
    }

    @Test func `a redirect to a host that must have a policy and has none is refused with its response`()
        async throws
    {
        let outcome = try await follow(to: "https://b.test/", ["a.test": .default], mustBeEvaluated: true)
        guard case .invalidConfiguration? = outcome.error?.kind else {
            Issue.record("\(String(describing: outcome.error))")
            return
        }
        #expect(outcome.error?.attempt == 1)
        #expect(outcome.error?.response?.head.status == 302)
        #expect(outcome.urls.count == 1)
    }
}
