import Foundation
import SecurityPolicy
import TestPKI

extension IssuedCertificate {
    /// The certificate as the policy sees it.
    var asCertificate: Certificate { get throws { try Certificate(der: der) } }
}

extension Identity {
    /// What a server with this identity sends.
    var trust: ServerTrust {
        get throws { try ServerTrust(certificates: chain.map { try $0.asCertificate }) }
    }

    /// The leaf as the policy sees it.
    var leaf: Certificate { get throws { try certificate.asCertificate } }
}

extension Authority {
    /// The authority's own certificate as the policy sees it.
    var asCertificate: Certificate { get throws { try certificate.asCertificate } }
}

/// A chain as it sends it.
func sent(_ certificates: IssuedCertificate...) throws -> ServerTrust {
    try ServerTrust(certificates: certificates.map { try $0.asCertificate })
}

/// A public web server's chain with a cross-signed root, all dates around 2020.
///
/// The leaf is for `httpbin.org` and `*.httpbin.org`; it is issued by a server CA, that one by the root, which the
/// system trusts and which an older root cross-signed; the server sends the cross-signed version and, last, the older
/// root as certified by a still older one.
struct WebTree {
    static let clock = date(2020, 6, 1)

    let systemRoot: Authority
    let leaf: Identity
    let serverCA: IssuedCertificate
    let crossRoot: IssuedCertificate
    let olderRoot: IssuedCertificate
    /// Leaf, server CA, cross-signed root, older root.
    let trust: ServerTrust
    let issuing: Authority

    init() throws {
        func authority(_ name: String) -> CertificateOptions {
            .authority(commonName: name).with {
                $0.validity = .init(from: date(2015, 1, 1), to: date(2037, 1, 1))
            }
        }
        systemRoot = try Authority(authority("Web Root 1"))
        let older = try Authority(authority("Older Root G2"))
        let oldest = try Authority(authority("Oldest Class 2"))
        crossRoot = try older.crossSigned(systemRoot, authority("Web Root 1")).certificate
        olderRoot = try oldest.crossSigned(older, authority("Older Root G2")).certificate
        issuing = try systemRoot.intermediate(authority("Server CA 1B"))
        serverCA = issuing.certificate
        leaf = try issuing.issue(
            .server("httpbin.org", "*.httpbin.org").with {
                $0.subject.commonName = "httpbin.org"
                $0.validity = .init(from: date(2020, 1, 18), to: date(2021, 2, 18))
            }
        )
        trust = try sent(leaf.certificate, serverCA, crossRoot, olderRoot)
    }

    /// The default policy of a machine that trusts the root, with the clock in 2020.
    var policy: SecurityPolicy {
        get throws {
            SecurityPolicy(
                trustAnchors: .certificates([try systemRoot.asCertificate]),
                verificationDate: WebTree.clock
            )
        }
    }

    func policy(
        _ mode: SecurityPolicy.PinningMode,
        pins: [IssuedCertificate],
        allowInvalid: Bool = false
    ) throws -> SecurityPolicy {
        var policy = try policy
        policy.pinningMode = mode
        policy.pinnedCertificates = Set(try pins.map { try $0.asCertificate })
        policy.allowInvalidCertificates = allowInvalid
        return policy
    }
}

/// Self-signed certificates of 2014 to 2034.
enum SelfSigned {
    static func make(_ names: [AlternativeName], commonName: String? = nil) throws -> Identity {
        try .selfSigned(
            .server(names).with {
                $0.subject.commonName = commonName
                $0.validity = .init(from: date(2014, 3, 13), to: date(2034, 3, 10))
            }
        )
    }

    /// No name at all but a common name that is none.
    static var withoutNames: Identity { get throws { try make([], commonName: "No Domains") } }
    /// A common name that looks like a host.
    static var withCommonName: Identity { get throws { try make([], commonName: "foobar.com") } }
    /// A dNSName.
    static var withAlternativeName: Identity {
        get throws { try make(["foobar.com"], commonName: "Alt Name") }
    }
}

/// A private tree of today: root, intermediate and a leaf for `api.test`.
struct PrivateTree {
    let root: Authority
    let intermediate: Authority
    let leaf: Identity

    init() throws {
        // A public root has no authority key identifier, or its own.
        root = try Authority(
            .authority(commonName: "Private Root").with { $0.authorityKeyIdentifier = .omitted }
        )
        intermediate = try root.intermediate(commonName: "Private Issuing")
        leaf = try intermediate.issue(.server("api.test"))
    }

    /// A policy of a machine that trusts the root.
    func policy(
        _ mode: SecurityPolicy.PinningMode = .none,
        pins: [IssuedCertificate] = [],
        allowInvalid: Bool = false,
        checksName: Bool = true
    ) throws -> SecurityPolicy {
        SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: Set(try pins.map { try $0.asCertificate }),
            allowInvalidCertificates: allowInvalid,
            validatesDomainName: checksName,
            trustAnchors: .certificates([try root.asCertificate])
        )
    }
}

/// Midnight, UTC.
func date(_ year: Int, _ month: Int, _ day: Int) -> Date {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar.date(from: DateComponents(year: year, month: month, day: day)) ?? .distantPast
}

extension SecurityPolicy {
    /// The same policy without the check of names: what AFNetworking does for a nil domain.
    var withoutNames: SecurityPolicy {
        var copy = self
        copy.validatesDomainName = false
        return copy
    }

    /// The number of an `untrusted` verdict; 0 for acceptance, -1 for any other refusal.
    func code(_ trust: ServerTrust, _ domain: String?) -> Int {
        do {
            try evaluate(trust, forDomain: domain)
            return 0
        } catch .untrusted(let code, _) {
            return code
        } catch {
            return -1
        }
    }

    /// The error; nil for acceptance.
    func refusal(_ trust: ServerTrust, _ domain: String?) -> TrustError? {
        do {
            try evaluate(trust, forDomain: domain)
            return nil
        } catch {
            return error
        }
    }
}
