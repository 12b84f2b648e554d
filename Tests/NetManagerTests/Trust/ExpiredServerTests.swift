import FoundationEssentials
import SecurityPolicy
import TestPKI
import TestServer
import Testing

@testable import NetManager

/// A server whose leaf has expired, under a root and two intermediates that are in date, and one whose leaf is revoked.
///
/// The root is a trust anchor of every policy, so that the leaf's date alone is what is wrong.
@Suite struct ExpiredServerTests {
    private let root: Authority
    private let intermediates: [Authority]
    private let expired: Identity
    private let server: TestServer

    init() throws {
        root = try Authority()
        let upper = try root.intermediate(.authority(commonName: "Upper", pathLength: 1))
        let lower = try upper.intermediate(commonName: "Lower")
        intermediates = [lower, upper]
        expired = try lower.issue(.server("localhost").with { $0.validity = .expired })
        let sent = expired.appending([root.certificate])
        server = try TestServer(tls: TLSOptions(identity: sent)) { _ in .json("{}") }
    }

    /// Alamofire's “default validation” is what the trust anchors say.
    private func policy(
        _ mode: SecurityPolicy.PinningMode = .none,
        pins: [IssuedCertificate] = [],
        validation: Bool = true,
        host: Bool = true
    ) throws -> SecurityPolicy {
        SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: Set(try pins.map { try Certificate(der: $0.der) }),
            allowInvalidCertificates: !validation,
            validatesDomainName: host,
            trustAnchors: .certificates([try Certificate(der: root.certificate.der)])
        )
    }

    /// Why a GET is refused under a policy; nil when it succeeds.
    ///
    /// A refused server has seen no byte.
    private func refusal(_ policy: SecurityPolicy, of server: TestServer? = nil) async throws -> RequestError?
    {
        let server = server ?? self.server
        let manager = HTTPSessionManager(.init(securityPolicy: policy), transport: CurlTransport())
        let error = await requestError { _ = try await manager.get(server.url()) }
        #expect((error == nil) == (server.counters.requestBytes > 0))
        return error
    }

    private func code(_ error: RequestError?) -> Int? {
        if case .untrusted(let code, _)? = error?.trustError { code } else { nil }
    }

    @Test func `case 155: a policy without pins ends as −1202`() async throws {
        let error = try await refusal(policy())
        #expect(code(error) == 10)
        #expect(error?._code == -1202)
        #expect(error?._domain == "NSURLErrorDomain")
    }

    @Test func `case 157: revocation lists do not make an expired leaf good`() async throws {
        var policy = try policy()
        for authority in intermediates + [root] {
            policy.revocationLists.insert(try RevocationList(der: authority.revocationList(revoking: [])))
        }
        #expect(code(try await refusal(policy)) == 10)
    }

    @Test func `case 158: a revoked leaf is refused, and one that no list covers`() async throws {
        let revoked = try intermediates[0].issue(.server("localhost"))
        let other = try TestServer(tls: TLSOptions(identity: revoked)) { _ in .json("{}") }
        var policy = try policy()
        for authority in [intermediates[1], root] {
            policy.revocationLists.insert(try RevocationList(der: authority.revocationList(revoking: [])))
        }
        #expect(code(try await refusal(policy, of: other)) == 3)  // X509_V_ERR_UNABLE_TO_GET_CRL
        let list = try intermediates[0].revocationList(revoking: [revoked.certificate])
        policy.revocationLists.insert(try RevocationList(der: list))
        guard case .revoked? = try await refusal(policy, of: other)?.trustError else {
            Issue.record("not revoked")
            return
        }
    }

    @Test func `case 160: pins of the whole chain do not make an expired leaf good`() async throws {
        let pins = [expired.certificate, root.certificate] + intermediates.map(\.certificate)
        #expect(code(try await refusal(policy(.certificate, pins: pins))) == 10)
    }

    @Test func `case 161: a pinned expired leaf passes by its key only, when invalid ones are allowed`()
        async throws
    {
        let pins = [expired.certificate]
        let byKey = try policy(.publicKey, pins: pins, validation: false, host: false)
        #expect(try await refusal(byKey) == nil)
        // Dates count on the path to a pinned certificate, here unlike there.
        let another = try TestServer(tls: TLSOptions(identity: expired)) { _ in .json("{}") }
        let byCertificate = try policy(.certificate, pins: pins, validation: false, host: false)
        let error = try await refusal(byCertificate, of: another)
        guard case .pinMismatch? = error?.trustError else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `case 163: a pinned root does not make an expired leaf good`() async throws {
        let error = try await refusal(policy(.certificate, pins: [root.certificate], validation: false))
        guard case .pinMismatch? = error?.trustError else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `case 164: the leaf's pinned key does not replace the anchors where they count`() async throws
    {
        #expect(code(try await refusal(policy(.publicKey, pins: [expired.certificate]))) == 10)
    }

    @Test func `cases 166 and 167: the key of an intermediate or root counts on a valid path only`()
        async throws
    {
        for pin in intermediates.map(\.certificate) + [root.certificate] {
            let byKey = try policy(.publicKey, pins: [pin], validation: false, host: false)
            let error = try await refusal(byKey)
            guard case .pinMismatch? = error?.trustError else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
