import Foundation
import SecurityPolicy
import TestPKI
import Testing

/// Root, CA1 and CA2 of 2015 to 2035, and the leaves that Alamofire's tests have.
struct AlamofireTree {
    let root: Authority
    let ca1: Authority
    let ca2: Authority

    init() throws {
        func authority(_ name: String) -> CertificateOptions {
            .authority(commonName: name).with {
                $0.validity = .init(from: date(2015, 1, 1), to: date(2035, 1, 1))
            }
        }
        root = try Authority(authority("Root"))
        ca1 = try root.intermediate(authority("CA1"))
        ca2 = try root.intermediate(authority("CA2"))
    }

    func leaf(_ issuer: Authority, _ names: AlternativeName..., until end: Date = date(2025, 7, 9)) throws
        -> Identity
    {
        try issuer.issue(.server(names).with { $0.validity = .init(from: date(2015, 7, 12), to: end) })
    }

    var valid: Identity { get throws { try leaf(ca2, "test.alamofire.org") } }
    var wildcard: Identity { get throws { try leaf(ca1, "*.alamofire.org") } }
    var expired: Identity { get throws { try leaf(ca2, "test.alamofire.org", until: date(2015, 7, 13)) } }
    var nameless: Identity { get throws { try leaf(ca2) } }
    var uriOnly: Identity { get throws { try leaf(ca2, .uri("https://test.alamofire.org")) } }

    /// The clock is in 2020; `anchored` is whether the root is trusted.
    func policy(
        _ mode: SecurityPolicy.PinningMode = .none,
        pins: [IssuedCertificate] = [],
        anchored: Bool = true,
        validation: Bool = true,
        host: Bool = true
    ) throws -> SecurityPolicy {
        SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: Set(try pins.map { try $0.asCertificate }),
            allowInvalidCertificates: !validation,
            validatesDomainName: host,
            trustAnchors: .certificates(anchored ? [try root.asCertificate] : []),
            verificationDate: date(2020, 1, 1)
        )
    }
}

@Suite struct EvaluatorFactsTests {
    private let tree: AlamofireTree
    private let host = "test.alamofire.org"

    init() throws { tree = try AlamofireTree() }

    private func accepts(_ policy: SecurityPolicy, _ identity: Identity) throws -> Bool {
        policy.accepts(try identity.trust, forDomain: host)
    }

    @Test(arguments: [true, false])
    func `cases 107, 110 and 125: an expired leaf is refused`(checksHost: Bool) throws {
        let chain = try tree.expired.appending([tree.root.certificate]).trust
        #expect(try tree.policy(host: checksHost).code(chain, host) == 10)
    }

    @Test func `case 109: a URI is no host name`() throws {
        #expect(try !accepts(tree.policy(), tree.uriOnly))
        #expect(try accepts(tree.policy(host: false), tree.uriOnly))
    }

    @Test func `case 112: a trusted root need not be in the chain`() throws {
        #expect(try accepts(tree.policy(), tree.leaf(tree.ca1, "test.alamofire.org")))
    }

    @Test func `cases 113 and 118: a leaf without names is valid when names are not checked`() throws {
        #expect(try accepts(tree.policy(host: false), tree.nameless))
        #expect(try tree.policy(host: false).accepts(tree.nameless.trust, forDomain: nil))
    }

    @Test func `cases 115, 116 and 127: a wildcard and a name match`() throws {
        #expect(try accepts(tree.policy(), tree.wildcard))
        #expect(try accepts(tree.policy(), tree.valid))
    }

    @Test func `cases 119 and 128: a root that is not trusted is refused`() throws {
        #expect(try !accepts(tree.policy(anchored: false, host: false), tree.valid))
    }

    @Test func `cases 121 and 128: a missing intermediate is refused`() throws {
        #expect(try !accepts(tree.policy(host: false), tree.valid.sending([tree.root.certificate])))
    }

    @Test func `cases 122 and 124: a leaf without names passes only when names are not checked`() throws {
        #expect(try accepts(tree.policy(host: false), tree.valid))
        #expect(try accepts(tree.policy(host: false), tree.nameless))
        #expect(try !accepts(tree.policy(), tree.nameless))
    }

    @Test func `case 131: a pinned leaf, intermediate or root passes without trusted anchors`() throws {
        let valid = try tree.valid
        for pin in [valid.certificate, tree.ca2.certificate, tree.root.certificate] {
            let policy = try tree.policy(
                .certificate,
                pins: [pin],
                anchored: false,
                validation: false,
                host: false
            )
            #expect(try accepts(policy, valid))
        }
    }

    @Test(arguments: [true, false])
    func `cases 133 and 139: the pin of another authority is refused`(validation: Bool) throws {
        let policy = try tree.policy(
            .certificate,
            pins: [tree.ca1.certificate],
            validation: validation,
            host: false
        )
        #expect(try !accepts(policy, tree.valid))
    }

    @Test func `case 134: a pinned expired leaf is refused`() throws {
        let expired = try tree.expired
        #expect(try !accepts(tree.policy(.certificate, pins: [expired.certificate], host: false), expired))
    }

    @Test func `case 136: pins that do not fit the chain, or fit an expired one, are refused`() throws {
        let valid = try tree.valid
        let expired = try tree.expired
        let other = try tree.leaf(tree.ca2, "test.alamofire.org")
        #expect(try !accepts(tree.policy(.certificate, pins: [other.certificate]), valid))
        #expect(try !accepts(tree.policy(.certificate, pins: [tree.ca1.certificate]), valid))
        #expect(try !accepts(tree.policy(.certificate, pins: [expired.certificate]), expired))
        #expect(try !accepts(tree.policy(.certificate, pins: [tree.ca2.certificate]), expired))
    }

    @Test func `case 137: pins pass with name and anchors checked`() throws {
        let valid = try tree.valid
        for pin in [valid.certificate, tree.ca2.certificate, tree.root.certificate] {
            #expect(try accepts(tree.policy(.certificate, pins: [pin]), valid))
        }
    }

    @Test func `case 140: dates count on the path to a pinned certificate`() throws {
        let expired = try tree.expired
        for pin in [expired.certificate, tree.ca2.certificate, tree.root.certificate] {
            let policy = try tree.policy(.certificate, pins: [pin], validation: false, host: false)
            #expect(try !accepts(policy, expired))
        }
    }

    @Test(arguments: [true, false])
    func `cases 142 and 143: a key that is not in the chain is refused`(checksHost: Bool) throws {
        let other = try tree.leaf(tree.ca2, "signed-by-ca2.alamofire.org")
        #expect(
            try !accepts(tree.policy(.publicKey, pins: [other.certificate], host: checksHost), tree.valid)
        )
    }

    @Test func `case 145: a pinned leaf key needs no intermediate when invalid ones are allowed`() throws {
        let valid = try tree.valid
        let policy = try tree.policy(.publicKey, pins: [valid.certificate], validation: false, host: false)
        #expect(try accepts(policy, valid.sending([tree.root.certificate])))
    }

    @Test func `case 146: a pinned root that is sent but not linked is worth nothing`() throws {
        let policy = try tree.policy(
            .publicKey,
            pins: [tree.root.certificate],
            validation: false,
            host: false
        )
        #expect(try !accepts(policy, tree.valid.sending([tree.root.certificate])))
        #expect(try accepts(policy, tree.valid))
    }

    @Test func `case 148: an expired leaf passes by its own key only`() throws {
        let expired = try tree.expired
        func passes(_ pin: IssuedCertificate) throws -> Bool {
            try accepts(tree.policy(.publicKey, pins: [pin], validation: false, host: false), expired)
        }
        #expect(try passes(expired.certificate))
        #expect(try !passes(tree.ca2.certificate))
        #expect(try !passes(tree.root.certificate))
    }

    @Test func `case 149: everything passes when everything is switched off`() throws {
        let policy = try tree.policy(anchored: false, validation: false, host: false)
        #expect(try accepts(policy, tree.valid.sending([])))
        #expect(try accepts(policy, tree.expired))
    }
}
