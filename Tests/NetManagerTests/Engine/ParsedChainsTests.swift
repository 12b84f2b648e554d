import FoundationEssentials
import SecurityPolicy
import TestPKI
import Testing

@testable import NetManager

@Suite struct ParsedChainsTests {
    private func chain(_ name: String) throws -> [[UInt8]] {
        [[UInt8](try Identity.selfSigned(.server(.dns(name))).certificate.der)]
    }

    @Test func `each chain comes back as itself, however many were parsed`() throws {
        let chains = try (0..<40).map { try chain("host\($0).example") }
        for _ in 0..<2 {
            for chain in chains {
                let trust = try ParsedChains.trust(chain)
                #expect(trust.certificates.map { [UInt8]($0.der) } == chain)
            }
        }
    }

    @Test func `a chain that cannot be parsed is refused each time`() throws {
        var broken = try chain("host.example")
        broken[0].removeLast()
        for _ in 0..<2 { #expect(throws: TrustError.self) { try ParsedChains.trust(broken) } }
        #expect(throws: TrustError.noCertificate) { try ParsedChains.trust([]) }
    }

    @Test func `a chain that was judged before is judged again by the next policy`() throws {
        let chain = try chain("host.example")
        let own = Set(try ParsedChains.trust(chain).certificates)
        let trusting = SecurityPolicy(trustAnchors: .certificates(own))
        let doubting = SecurityPolicy(trustAnchors: .certificates([]))
        for _ in 0..<2 {
            #expect(trusting.accepts(try ParsedChains.trust(chain), forDomain: "host.example"))
            #expect(!doubting.accepts(try ParsedChains.trust(chain), forDomain: "host.example"))
        }
    }
}
