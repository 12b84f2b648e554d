import COpenSSL
import SecurityPolicy
import TestPKI
import Testing

@testable import NetManager
@testable import TestServer

/// Sessions as libcurl keeps them since 8.12: written down by OpenSSL and read again, which loses the chain.
@Suite struct SessionChainTests {
    static let versions: [TLSVersion] = [.tls12, .tls13]

    private let root: Authority
    private let intermediate: Authority
    private let identity: Identity

    init() throws {
        root = try Authority()
        intermediate = try root.intermediate()
        identity = try intermediate.issue(
            .server(.dns("localhost")).with { $0.subject = .init(commonName: "localhost") }
        )
    }

    private func policy(
        _ authority: Authority,
        pinning pins: Set<PublicKeyPin> = []
    ) throws -> SecurityPolicy {
        SecurityPolicy(
            pinningMode: pins.isEmpty ? .none : .publicKey,
            pinnedPublicKeys: pins,
            trustAnchors: .certificates([try Certificate(der: authority.certificate.der)])
        )
    }

    private func pin(_ certificate: IssuedCertificate) throws -> PublicKeyPin {
        try Certificate(der: certificate.der).publicKeyPin
    }

    private func server(_ version: TLSVersion) throws -> TLSContext {
        let options = TLSOptions(identity: identity, minimum: version, maximum: version)
        return try TLSContext(options, ticketKeys: (0..<80).map { UInt8($0) })
    }

    /// The session of a first handshake under this policy, written down.
    private func writtenSession(_ server: TLSContext, _ policy: SecurityPolicy) throws -> [UInt8] {
        let first = try TLSPair(server, policy, session: nil)
        #expect(first.isConnected)
        #expect(!first.isResumed)
        return try first.session()
    }

    @Test(arguments: versions)
    func `a session that was written down is judged by the whole chain of its first handshake`(
        version: TLSVersion
    ) throws {
        let server = try server(version)
        let trusting = try policy(root)
        let session = try writtenSession(server, trusting)

        let second = try TLSPair(server, trusting, session: session)
        try #require(second.isConnected && second.isResumed)
        #expect(second.sentChain.isEmpty, "OpenSSL brings the chain back itself")
        #expect(second.chain == identity.chain.map { [UInt8]($0.der) })
        #expect(second.isTrusted)

        // And once more, as a resumed connection gets tickets of its own.
        let third = try TLSPair(server, trusting, session: try second.session())
        try #require(third.isConnected && third.isResumed)
        #expect(third.isTrusted)
    }

    @Test(arguments: versions)
    func `what is kept with a session makes no other policy trust it`(version: TLSVersion) throws {
        let server = try server(version)
        let session = try writtenSession(server, try policy(root))
        let pinningIssuer = try policy(root, pinning: [pin(intermediate.certificate)])
        let pinningOther = try policy(root, pinning: [pin(try Authority().certificate)])
        for (policy, isTrusted) in [
            (pinningIssuer, true), (pinningOther, false), (try policy(try Authority()), false),
        ] {
            let resumed = try TLSPair(server, policy, session: session)
            try #require(resumed.isConnected && resumed.isResumed)
            #expect(resumed.isTrusted == isTrusted)
        }
    }

    @Test(arguments: versions)
    func `a session without what was kept is refused, and so is one with something else`(
        version: TLSVersion
    ) throws {
        let server = try server(version)
        let trusting = try policy(root)
        let session = try writtenSession(server, trusting)
        let other = try Authority().intermediate().issue(.server(.dns("localhost")))
        for kept in [
            [], [1, 2, 3], [255, 255, 255, 255, 0], [0, 0, 0, 0], [UInt8](other.certificate.der),
        ] as [[UInt8]] {
            let resumed = try TLSPair(server, trusting, session: session, keeping: kept)
            try #require(resumed.isConnected && resumed.isResumed)
            #expect(!resumed.isTrusted)
        }
    }
}
