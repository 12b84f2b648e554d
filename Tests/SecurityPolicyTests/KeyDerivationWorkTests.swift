import Foundation
import SecurityPolicy
import TestPKI
import Testing

/// A file of a few hundred bytes must not hold the one who reads it for minutes.
@Suite struct KeyDerivationWorkTests {
    private typealias Derivation = SlowKeyFile.Derivation

    private let tree: ClientTree

    init() throws { tree = try ClientTree() }

    /// What takes minutes, or far longer; the numbers beyond 32 bits come out as small ones where they are cut.
    private static let excessive: [Derivation] = [
        .pbkdf2(10_000_001), .pbkdf2(2_000_000_000), .pbkdf2(1 << 32 + 1), .pbkdf2(.max), .pbkdf2(-1),
        .pkcs12(10_000_001), .pkcs12(1 << 32 + 1), .pkcs12(-1),
        .scrypt(cost: 1 << 20, blockSize: 8, parallelization: 2),
        .scrypt(cost: 2, blockSize: 1, parallelization: 1 << 28),
        .scrypt(cost: .max, blockSize: .max, parallelization: .max),
    ]

    private func isRefusedForItsIterations(_ error: ClientIdentityError?) -> Bool {
        guard case .unsupported(let reason) = error else { return false }
        return reason.contains("10000000 iterations")
    }

    @Test(arguments: excessive)
    func `a key that takes too long to decrypt is refused at once`(derivation: SlowKeyFile.Derivation) throws
    {
        let pem = Data(SlowKeyFile.encryptedKeyPEM(derivation).utf8)
        let error = identityError { try ClientIdentity(pem: pem, password: "x") }
        #expect(isRefusedForItsIterations(error), "\(derivation): \(String(describing: error))")
    }

    @Test(arguments: SlowKeyFile.Place.allCases, excessive)
    func `PKCS#12 that takes too long to open is refused at once, wherever that stands`(
        place: SlowKeyFile.Place,
        derivation: SlowKeyFile.Derivation
    ) throws {
        if place == .mac {
            guard case .pkcs12 = derivation else { return }
        }
        for password in ["x", ""] {
            let file = try SlowKeyFile.pkcs12([(place, derivation)], password: password)
            let error = identityError { try ClientIdentity(pkcs12: file, password: password) }
            #expect(isRefusedForItsIterations(error), "\(derivation): \(String(describing: error))")
        }
    }

    @Test func `many derivations are added up`() throws {
        let half = Derivation.pkcs12(6_000_000)
        for places in [[SlowKeyFile.Place.mac, .key], [.mac, .safe], [.mac, .hiddenKey]] {
            let file = try SlowKeyFile.pkcs12(places.map { ($0, half) }, password: "x")
            let error = identityError { try ClientIdentity(pkcs12: file, password: "x") }
            #expect(isRefusedForItsIterations(error), "\(places): \(String(describing: error))")
        }
        // OpenSSL's own 2,048 iterations, and then too many by a thousand.
        let key = try tree.client.key.pem(password: "x")
        let pem = Data((key + SlowKeyFile.encryptedKeyPEM(.pbkdf2(9_999_000))).utf8)
        #expect(isRefusedForItsIterations(identityError { try ClientIdentity(pem: pem, password: "x") }))
    }

    @Test(arguments: [
        SlowKeyFile.Derivation.pbkdf2(1_000), .pkcs12(1_000),
        .scrypt(cost: 1_024, blockSize: 8, parallelization: 1),
    ])
    func `what takes no time is tried`(derivation: SlowKeyFile.Derivation) throws {
        let pem = Data(SlowKeyFile.encryptedKeyPEM(derivation).utf8)
        #expect(identityError { try ClientIdentity(pem: pem, password: "x") } == .wrongPassword)
        for place in SlowKeyFile.Place.allCases {
            if place == .mac {
                guard case .pkcs12 = derivation else { continue }
            }
            let file = try SlowKeyFile.pkcs12([(place, derivation)], password: "x")
            #expect(identityError { try ClientIdentity(pkcs12: file, password: "x") } == .wrongPassword)
        }
    }
}
