import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct PolicyValueTests {
    @Test func `case 1: the default policy pins nothing`() {
        #expect(SecurityPolicy.default.pinningMode == .none)
    }

    @Test func `case 2: the default policy does not allow invalid certificates`() {
        #expect(!SecurityPolicy.default.allowInvalidCertificates)
    }

    @Test func `case 4: the default policy has no pins`() {
        #expect(SecurityPolicy.default.pinnedCertificates.isEmpty)
        #expect(SecurityPolicy.default.pinnedPublicKeys.isEmpty)
        #expect(SecurityPolicy.default.trustAnchors == .system)
        #expect(SecurityPolicy.default.verificationDate == nil)
    }

    @Test(arguments: [SecurityPolicy.PinningMode.publicKey, .certificate])
    func `cases 5 and 7: pins come from a folder of certificates`(mode: SecurityPolicy.PinningMode) throws {
        let folder = try TemporaryFolder()
        let tree = try PrivateTree()
        try folder.write(tree.leaf.certificateDER, to: "leaf.cer")
        try folder.write(tree.root.certificate.pem, to: "root.pem")
        let policy = SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: Set(try Certificate.load(allIn: folder.path))
        )
        #expect(policy.pinnedCertificates == [try tree.leaf.leaf, try tree.root.asCertificate])
    }

    @Test func `case 8: exactly one certificate of the folder is the leaf`() throws {
        let folder = try TemporaryFolder()
        let tree = try PrivateTree()
        try folder.write(tree.leaf.certificateDER, to: "a.cer")
        try folder.write(tree.root.certificate.der, to: "b.cer")
        try folder.write(tree.intermediate.certificate.der, to: "c.cer")
        let pins = try Certificate.load(allIn: folder.path)
        #expect(pins.filter { $0.der == tree.leaf.certificateDER }.count == 1)
    }

    @Test func `case 10: a policy survives encoding and decoding`() throws {
        let tree = try PrivateTree()
        let policies = [
            SecurityPolicy.default,
            SecurityPolicy(
                pinningMode: .publicKey,
                pinnedCertificates: [try tree.leaf.leaf, try tree.root.asCertificate],
                pinnedPublicKeys: [try tree.intermediate.asCertificate.publicKeyPin],
                allowInvalidCertificates: true,
                validatesDomainName: false,
                trustAnchors: .certificates([try tree.root.asCertificate]),
                verificationDate: Date(timeIntervalSince1970: 1_590_969_600),
                strictness: .webPKI,
                maximumIntermediates: 2,
                stapledOCSP: .required,
                pinEnforcement: .audit,
                pinExpiration: Date(timeIntervalSince1970: 2_000_000_000)
            ),
            SecurityPolicy(trustAnchors: .systemAnd([try tree.root.asCertificate])),
            SecurityPolicy(trustAnchors: .certificates([])),
        ]
        for policy in policies {
            let copy = try JSONDecoder().decode(SecurityPolicy.self, from: JSONEncoder().encode(policy))
            #expect(copy == policy)
            #expect(copy.policyID == policy.policyID)
        }
    }

    @Test(arguments: [SecurityPolicy.PinningMode.none, .publicKey, .certificate])
    func `case 11: names are checked in every mode unless switched off`(mode: SecurityPolicy.PinningMode) {
        #expect(SecurityPolicy(pinningMode: mode).validatesDomainName)
    }

    @Test func `case 13: changing a copy leaves the original alone`() {
        let original = SecurityPolicy(allowInvalidCertificates: true)
        var copy = original
        copy.allowInvalidCertificates = false
        #expect(original.allowInvalidCertificates)
        #expect(copy != original)
    }

    @Test func `case 14: bytes that are no certificate cannot become a pin`() {
        let bytes = Data((0..<64).map { _ in UInt8.random(in: 0...255) })
        #expect(throws: CertificateError.self) { try Certificate(der: bytes) }
        #expect(throws: CertificateError.self) { try Certificate.certificates(in: bytes) }
    }

    @Test func `the raw values of the modes are AFNetworking's`() {
        #expect(SecurityPolicy.PinningMode.none.rawValue == 0)
        #expect(SecurityPolicy.PinningMode.publicKey.rawValue == 1)
        #expect(SecurityPolicy.PinningMode.certificate.rawValue == 2)
    }

    @Test func `an encoded policy carries base64 DER and pins as text`() throws {
        let leaf = try PrivateTree().leaf.leaf
        let policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [leaf],
            pinnedPublicKeys: [leaf.publicKeyPin]
        )
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(policy)) as? [String: Any]
        #expect(object?["pinnedCertificates"] as? [String] == [leaf.der.base64EncodedString()])
        #expect(object?["pinnedPublicKeys"] as? [String] == [leaf.publicKeyPin.description])
        #expect(object?["pinningMode"] as? Int == 2)
    }

    @Test(arguments: [
        #"{}"#,
        #"{"pinningMode": 3}"#,
        #"{"pinningMode": "Certificate"}"#,
        #"{"pinningMode": "certificate", "pinnedCertificateFiles": ["a.pem"]}"#,
        #"{"pinningMode": 2, "pinnedCertificates": ["AAAA"]}"#,
        #"{"pinningMode": 2, "pinnedCertificates": ["not base64"]}"#,
        #"{"pinningMode": 1, "pinnedPublicKeys": ["sha256/AAAA"]}"#,
        #"{"pinningMode": 1, "pinnedPublicKey": []}"#,
        #"{"pinningMode": 0, "trustAnchors": {}}"#,
    ])
    func `decoding refuses what cannot be constructed`(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SecurityPolicy.self, from: Data(json.utf8))
        }
    }

    @Test func `decoding takes the defaults for fields that are left out`() throws {
        let policy = try JSONDecoder().decode(SecurityPolicy.self, from: Data(#"{"pinningMode": 0}"#.utf8))
        #expect(policy == .default)
    }

    @Test func `the identity of a policy changes with every field and with nothing else`() throws {
        let tree = try PrivateTree()
        let leaf = try tree.leaf.leaf
        let root = try tree.root.asCertificate
        let changes: [(inout SecurityPolicy) -> Void] = [
            { $0.pinningMode = .certificate },
            { $0.pinningMode = .publicKey },
            { $0.pinnedCertificates = [leaf] },
            { $0.pinnedCertificates = [leaf, root] },
            { $0.pinnedPublicKeys = [leaf.publicKeyPin] },
            { $0.allowInvalidCertificates = true },
            { $0.validatesDomainName = false },
            { $0.trustAnchors = .certificates([root]) },
            { $0.trustAnchors = .certificates([]) },
            { $0.trustAnchors = .systemAnd([root]) },
            { $0.verificationDate = Date(timeIntervalSince1970: 0) },
            { $0.verificationDate = Date(timeIntervalSince1970: 0.5) },
            { $0.strictness = .webPKI },
            { $0.maximumIntermediates = 7 },
            { $0.stapledOCSP = .ifPresent },
            { $0.stapledOCSP = .required },
            { $0.pinEnforcement = .audit },
            { $0.pinExpiration = Date(timeIntervalSince1970: 0) },
        ]
        var seen = [SecurityPolicy.default.policyID]
        for change in changes {
            var policy = SecurityPolicy.default
            change(&policy)
            var again = SecurityPolicy.default
            change(&again)
            #expect(policy.policyID == again.policyID)
            seen.append(policy.policyID)
        }
        #expect(Set(seen).count == changes.count + 1)
        #expect(seen.allSatisfy { $0.count == 64 && $0.allSatisfy { $0.isHexDigit && !$0.isUppercase } })
    }
}
