import FoundationEssentials
import Locks
import SecurityPolicy
import TestPKI
import Testing

@testable import NetManager
@testable import TestServer

/// Resumed sessions of one policy and what was accepted before, over handshakes in memory.
@Suite struct ResumedVerdictTests {
    static let versions: [TLSVersion] = [.tls12, .tls13]

    private let root: Authority
    private let identity: Identity
    private let policy: SecurityPolicy
    private let memory = VerdictMemory()

    init() throws {
        root = try Authority()
        identity = try root.issue(
            .server(.dns("localhost")).with { $0.subject = .init(commonName: "localhost") }
        )
        policy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: [try Certificate(der: root.certificate.der)],
            trustAnchors: .certificates([try Certificate(der: root.certificate.der)])
        )
    }

    private func server(_ version: TLSVersion) throws -> TLSContext {
        let options = TLSOptions(identity: identity, minimum: version, maximum: version)
        return try TLSContext(options, ticketKeys: (0..<80).map { UInt8($0) })
    }

    private func resume(
        _ server: TLSContext,
        _ session: [UInt8],
        _ policy: SecurityPolicy,
        host: String = "localhost"
    ) throws -> TLSPair {
        let pair = try TLSPair(server, policy, session: session, host: host, verdicts: memory)
        try #require(pair.isConnected && pair.isResumed)
        return pair
    }

    /// The session of a first handshake.
    private func session(_ server: TLSContext, _ policy: SecurityPolicy) throws -> [UInt8] {
        let first = try TLSPair(server, policy, session: nil, verdicts: memory)
        try #require(first.isConnected && !first.isResumed)
        return try first.session()
    }

    @Test(arguments: versions)
    func `resumed sessions of a server that was just accepted are not evaluated again`(
        version: TLSVersion
    ) throws {
        let server = try server(version)
        var session = try session(server, policy)
        #expect(memory.recalls == 0)
        for count in 1...4 {
            let resumed = try resume(server, session, policy)
            #expect(resumed.isTrusted)
            #expect(memory.recalls == count)
            guard case .success(let decision) = resumed.verification.verdict else {
                Issue.record("no decision")
                return
            }
            #expect(decision == (try policy.evaluate(trust, forDomain: "localhost")))
            session = try resumed.session()
        }
        #expect(memory.count == 1)
    }

    private var trust: ServerTrust {
        get throws {
            ServerTrust(certificates: try identity.chainDER.map { try Certificate(der: Data($0)) })
        }
    }

    @Test(arguments: versions)
    func `a handshake that shows certificates is evaluated whatever was accepted before`(
        version: TLSVersion
    ) throws {
        let server = try server(version)
        for _ in 0..<3 { _ = try session(server, policy) }
        #expect(memory.recalls == 0)
        #expect(memory.count == 1)
    }

    @Test(arguments: versions)
    func `a server that was revoked meanwhile is refused although its session is resumed`(
        version: TLSVersion
    ) throws {
        let server = try server(version)
        let session = try session(server, policy)
        #expect(try resume(server, session, policy).isTrusted)
        let recalls = memory.recalls
        for (revoked, isTrusted) in [([], true), ([identity.certificate], false)]
            as [([IssuedCertificate], Bool)]
        {
            var strict = policy
            strict.revocationLists = [try RevocationList(der: root.revocationList(revoking: revoked))]
            for _ in 0..<2 {
                #expect(try resume(server, session, strict).isTrusted == isTrusted)
            }
        }
        #expect(memory.recalls == recalls)
    }

    @Test(arguments: versions)
    func `what one policy accepted for one host says nothing of another`(version: TLSVersion) throws {
        let server = try server(version)
        let session = try session(server, policy)
        #expect(try !resume(server, session, policy, host: "other.example").isTrusted)
        var strict = policy
        strict.pinnedCertificates = [try Certificate(der: Authority().certificate.der)]
        // A refusal is not remembered, and does not become an acceptance.
        for _ in 0..<2 { #expect(try !resume(server, session, strict).isTrusted) }
        #expect(memory.recalls == 0)
        #expect(memory.count == 1)
    }

    @Test(arguments: versions)
    func `an audited server is reported for each resumed session`(version: TLSVersion) throws {
        let server = try server(version)
        var audited = policy
        audited.pinnedCertificates = [try Certificate(der: Authority().certificate.der)]
        audited.pinEnforcement = .audit
        let session = try session(server, audited)
        let reports = Guarded(0)
        for _ in 0..<3 {
            let resumed = try resume(server, session, audited)
            resumed.verification.onRefusal = { _, _, isLetThrough in
                if isLetThrough { reports.withLock { $0 += 1 } }
            }
            #expect(resumed.isTrusted)
        }
        #expect(reports.withLock { $0 } == 3)
        #expect(memory.recalls == 0)
    }
}
