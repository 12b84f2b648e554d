import FoundationEssentials
import SecurityPolicy
import TestPKI
import Testing

@Suite struct PolicyWarningTests {
    private func certificate(_ validity: CertificateOptions.Validity = .current, _ name: String = "a.test")
        throws
        -> Certificate
    {
        let options = CertificateOptions.server(.dns(name)).with {
            $0.subject = .init(commonName: name)
            $0.validity = validity
        }
        return try Certificate(der: Identity.selfSigned(options).certificateDER)
    }

    @Test func `two different keys and the default policy give no warning`() throws {
        let pins: Set = [try certificate(), try certificate()]
        #expect(SecurityPolicy.default.warnings == [])
        for mode in [SecurityPolicy.PinningMode.certificate, .publicKey] {
            #expect(SecurityPolicy(pinningMode: mode, pinnedCertificates: pins).warnings == [])
        }
        let keys = Set(pins.map(\.publicKeyPin))
        #expect(SecurityPolicy(pinningMode: .publicKey, pinnedPublicKeys: keys).warnings == [])
    }

    @Test func `a single key is warned of, however often it is pinned`() throws {
        let one = try certificate()
        for mode in [SecurityPolicy.PinningMode.certificate, .publicKey] {
            #expect(SecurityPolicy(pinningMode: mode, pinnedCertificates: [one]).warnings == [.noBackupPin])
        }
        let twice = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: [one],
            pinnedPublicKeys: [one.publicKeyPin]
        )
        #expect(twice.warnings == [.noBackupPin])
    }

    @Test func `pins that the mode does not look at are warned of`() throws {
        let one = try certificate()
        #expect(SecurityPolicy(pinnedCertificates: [one]).warnings == [.unusedPins])
        let mixed = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [one],
            pinnedPublicKeys: [try certificate().publicKeyPin]
        )
        #expect(mixed.warnings == [.noBackupPin, .unusedPins])
    }

    @Test func `a pinned certificate that is out of date is named, where its dates count`() throws {
        let old = try certificate(.expired, "old.test")
        let pins: Set = [old, try certificate()]
        let policy = SecurityPolicy(pinningMode: .certificate, pinnedCertificates: pins)
        #expect(policy.warnings == [.outdatedPin(old.subject)])
        #expect(policy.warnings.first?.description.contains("old.test") == true)
        #expect(SecurityPolicy(pinningMode: .publicKey, pinnedCertificates: pins).warnings == [])
    }

    @Test func `expired pins and a policy that accepts everybody are warned of`() throws {
        var policy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: [try certificate(), try certificate()]
        )
        policy.pinExpiration = .distantPast
        #expect(policy.warnings == [.expiredPins])
        let everybody = SecurityPolicy(allowInvalidCertificates: true, validatesDomainName: false)
        #expect(everybody.warnings == [.acceptsEveryServer])
    }

    @Test func `a collection of policies names the hosts, and a report repeats the warnings`() throws {
        let one = try certificate()
        let policy = SecurityPolicy(pinningMode: .certificate, pinnedCertificates: [one])
        let questionable = try #require(HostPattern("a.test"))
        let fine = try #require(HostPattern("b.test"))
        let hosts = HostPolicies([questionable: policy, fine: .default])
        #expect(hosts.warnings == [questionable: [.noBackupPin]])
        let trust = ServerTrust(certificates: [one])
        let report = TrustReport(.noCertificate, from: trust, host: "a.test", policy: policy)
        #expect(report.warnings == [.noBackupPin])
        let copy = try JSONDecoder().decode(TrustReport.self, from: JSONEncoder().encode(report))
        #expect(copy == report)
    }

    @Test(arguments: [
        (PolicyWarning.noBackupPin, "Pin a second one"), (.unusedPins, "Set the pinning mode"),
        (.outdatedPin("CN=a\u{1B}[2J"), "CN=a\\x1b[2J is out of date. Pin its successor"),
        (.expiredPins, "Replace them"), (.acceptsEveryServer, "anybody may read"),
    ])
    func `each warning says what it means or what to do`(warning: PolicyWarning, words: String) {
        #expect(warning.description.contains(words))
    }
}
