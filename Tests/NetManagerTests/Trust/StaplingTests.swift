import FoundationEssentials
import HTTPMessage
import NetManager
import SecurityPolicy
import TestPKI
import TestServer
import Testing

/// OCSP responses that are stapled to real handshakes.
@Suite struct StaplingTests {
    /// What a server staples.
    enum Stapled: String, CaseIterable, Sendable {
        case nothing, good, revoked, expired, foreign, rubbish

        fileprivate func response(_ root: Authority, _ leaf: IssuedCertificate) throws -> Data? {
            switch self {
            case .nothing: nil
            case .good: try root.ocspResponse(for: leaf)
            case .revoked: try root.ocspResponse(for: leaf, status: .revoked(.now))
            case .expired: try root.ocspResponse(for: leaf, validity: .expired)
            case .foreign: try root.ocspResponse(for: leaf, signer: Authority(commonName: "Somebody"))
            case .rubbish: Data("rubbish".utf8)
            }
        }
    }

    private struct Stapler {
        let server: TestServer
        let leaf: Certificate
        private let root: Certificate

        init(_ version: TLSVersion, _ stapled: Stapled, mustStaple: Bool = false) throws {
            let authority = try Authority()
            let identity = try authority.issue(.server("localhost").with { $0.mustStaple = mustStaple })
            var tls = TLSOptions(identity: identity, minimum: version, maximum: version)
            tls.stapledOCSPResponse = try stapled.response(authority, identity.certificate)
            server = try TestServer(tls: tls) { _ in .json("{}") }
            leaf = try Certificate(der: identity.certificateDER)
            root = try Certificate(der: authority.certificate.der)
        }

        func policy(_ stapling: SecurityPolicy.StapledOCSP) -> SecurityPolicy {
            SecurityPolicy(trustAnchors: .certificates([root]), stapledOCSP: stapling)
        }
    }

    private func isAccepted(_ stapler: Stapler, _ stapling: SecurityPolicy.StapledOCSP) async throws -> Bool {
        do {
            _ = try await CurlTransport().fetch(stapler.server.url(), policy: stapler.policy(stapling))
            return true
        } catch let error as RequestError {
            guard case .untrustedServer(.revoked) = error.kind else { throw error }
            return false
        }
    }

    @Test(arguments: PolicyIsolationTests.versions, Stapled.allCases)
    func `a stapled response is judged before the request is sent`(version: TLSVersion, stapled: Stapled)
        async throws
    {
        let stapler = try Stapler(version, stapled)
        #expect(try await isAccepted(stapler, .off))
        #expect(try await isAccepted(stapler, .ifPresent) == (stapled == .nothing || stapled == .good))
        #expect(try await isAccepted(stapler, .required) == (stapled == .good))
        let accepted = 1 + (stapled == .good ? 2 : stapled == .nothing ? 1 : 0)
        #expect(stapler.server.counters.requests == accepted)
    }

    @Test(arguments: PolicyIsolationTests.versions)
    func `a certificate that demands a stapled response is refused without one`(version: TLSVersion)
        async throws
    {
        let bare = try Stapler(version, .nothing, mustStaple: true)
        #expect(try await isAccepted(bare, .off))
        #expect(try await !isAccepted(bare, .ifPresent))
        #expect(try await isAccepted(try Stapler(version, .good, mustStaple: true), .ifPresent))
    }

    @Test(arguments: PolicyIsolationTests.versions)
    func `a policy that asks for a stapled response resumes no session, which would bring none`(
        version: TLSVersion
    ) async throws {
        let stapler = try Stapler(version, .good)
        let transport = CurlTransport()
        let close: HTTPHeaders = ["Connection": "close"]
        for stapling in [SecurityPolicy.StapledOCSP.required, .required, .off, .off, .required] {
            let policy = stapler.policy(stapling)
            _ = try await transport.fetch(stapler.server.url(), headers: close, policy: policy)
        }
        #expect(stapler.server.connections.map { $0.tls?.isResumed } == [false, false, false, true, false])
        // A response that has become bad refuses the next connection, whatever was there before.
        try stapler.server.changeTLS { $0.stapledOCSPResponse = Data("rubbish".utf8) }
        let error = try await failure {
            let policy = stapler.policy(.required)
            _ = try await transport.fetch(stapler.server.url(), headers: close, policy: policy)
        }
        guard case .untrustedServer(.revoked) = error.kind else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(arguments: PolicyIsolationTests.versions)
    func `a pinned key does not excuse a certificate that was revoked`(version: TLSVersion) async throws {
        let stapler = try Stapler(version, .revoked)
        var policy = stapler.policy(.ifPresent)
        policy.pinningMode = .publicKey
        policy.pinnedPublicKeys = [stapler.leaf.publicKeyPin]
        let error = try await failure {
            _ = try await CurlTransport().fetch(stapler.server.url(), policy: policy)
        }
        guard case .untrustedServer(.revoked) = error.kind else {
            Issue.record("\(error)")
            return
        }
    }
}
