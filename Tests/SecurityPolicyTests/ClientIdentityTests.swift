import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct ClientIdentityTests {
    @Test func `an identity hands out its chain and its key as PEM`() throws {
        let tree = try ClientTree()
        let identity = try tree.identity
        #expect(identity.certificates == (try tree.chain))
        #expect(String(decoding: identity.certificatePEM, as: UTF8.self) == tree.client.chainPEM)
        #expect(identity.keyText == tree.client.privateKeyPEM)
    }

    @Test func `identities are equal when chain and key are, however they were read`() throws {
        let tree = try ClientTree()
        let identity = try tree.identity
        let other = try ClientIdentity(pkcs12: tree.client.pkcs12(password: "x"), password: "x")
        #expect(identity == other)
        #expect(identity.hashValue == other.hashValue)
        #expect(identity.identityID == other.identityID)
        #expect(identity.identityID.count == 64)
        #expect(Set([identity, other]).count == 1)
    }

    @Test func `identities differ by key, by certificate and by chain`() throws {
        let tree = try ClientTree()
        let renewed = try tree.intermediate.issue(
            .client(commonName: "client 1").with { $0.key = .existing(tree.client.key) }
        )
        let all = try [
            tree.identity, ClientTree().identity,
            ClientIdentity(pem: Data((renewed.chainPEM + renewed.privateKeyPEM).utf8)),
            ClientIdentity(pem: Data((tree.client.certificatePEM + tree.client.privateKeyPEM).utf8)),
        ]
        #expect(Set(all).count == all.count)
        #expect(Set(all.map(\.identityID)).count == all.count)
    }

    @Test func `no text of an identity holds its key`() throws {
        let tree = try ClientTree()
        let identity = try tree.identity
        var dumped = ""
        dump(identity, to: &dumped)
        let secret = tree.client.privateKeyPEM.split(separator: "\n").dropFirst().dropLast()
        for text in ["\(identity)", identity.debugDescription, String(reflecting: identity), dumped] {
            #expect(text.contains("CN=client 1"))
            #expect(!text.contains("PRIVATE KEY"))
            for line in secret { #expect(!text.contains(line)) }
        }
        let error = try #require(
            identityError { try ClientIdentity(pem: tree.chainPEM, key: Data("x".utf8), password: "pass123") }
        )
        #expect(!"\(error)".contains("pass123"))
    }

    @Test func `an identity is refused outside its dates, in words that say until when`() throws {
        let (start, end) = (date(2026, 1, 1), date(2027, 1, 1))
        let identity = try ClientTree(validity: .init(from: start, to: end)).identity
        try identity.check(at: start)
        try identity.check(at: end.addingTimeInterval(-1))
        #expect(throws: ClientIdentityError.expired(subject: "CN=client 1", notAfter: end)) {
            try identity.check(at: end)
        }
        #expect(throws: ClientIdentityError.notYetValid(subject: "CN=client 1", notBefore: start)) {
            try identity.check(at: start.addingTimeInterval(-1))
        }
        #expect(
            "\(ClientIdentityError.expired(subject: "CN=client 1", notAfter: end))".contains(
                "expired on 2027-01-01T00:00:00Z"
            )
        )
    }

    @Test func `an expired identity can be made, and says so when it is asked`() throws {
        let identity = try ClientTree(validity: .expired).identity
        #expect(throws: ClientIdentityError.self) { try identity.check() }
    }

    @Test(arguments: [KeyKind.p256, .p384, .rsa(2048), .ed25519])
    func `keys of every usual kind are read`(kind: KeyKind) throws {
        let tree = try ClientTree(kind)
        #expect(try tree.identity.certificates == tree.chain)
        #expect(
            try ClientIdentity(pkcs12: tree.client.pkcs12(password: "p"), password: "p") == tree.identity
        )
    }

    @Test func `a key that OpenSSL refuses in handshakes is refused when the identity is made`() throws {
        let error = identityError { try ClientTree(.rsa(1024)).identity }
        guard case .refused(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("key too small"))
    }

    @Test(arguments: [
        (
            ClientIdentityError.unreadable(path: "/a.p12", reason: "permission denied"), "/a.p12",
            "permissions"
        ),
        (.malformed(reason: "it is a text"), "it is a text", "Not a usable client identity"),
        (.passwordRequired, "is encrypted", "Give its password"),
        (.wrongPassword, "does not open", "export it again"),
        (.unsupported(reason: "RC2"), "RC2", "AES-256"),
        (.noCertificate, "has no certificate", "Give the certificate"),
        (.noPrivateKey, "has no private key", "Give the file with the key"),
        (.keyDoesNotMatch(subject: "CN=client 1"), "CN=client 1", "Give the key"),
        (.refused(reason: "ee key too small"), "ee key too small", "2048 bits"),
        (.expired(subject: "CN=client 1", notAfter: .distantPast), "CN=client 1", "renewed"),
        (.notYetValid(subject: "CN=client 1", notBefore: .distantFuture), "CN=client 1", "clock"),
    ])
    func `each error says what is wrong and what to do`(
        error: ClientIdentityError,
        fault: String,
        remedy: String
    ) {
        let text = error.description.replacing("\n", with: " ")
        #expect(text.contains(fault))
        #expect(text.contains(remedy))
        #expect(text.hasSuffix("."))
    }
}
