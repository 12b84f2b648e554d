import Foundation
import SecurityPolicy
import TestPKI

/// A client's certificate below an intermediate, and what is made of it.
struct ClientTree {
    let root: Authority
    let intermediate: Authority
    let client: Identity

    init(_ key: KeyKind = .p256, validity: CertificateOptions.Validity = .current) throws {
        root = try Authority(commonName: "Client Root")
        intermediate = try root.intermediate(commonName: "Client Issuing")
        client = try intermediate.issue(
            .client(commonName: "client 1").with {
                $0.key = .new(key)
                $0.validity = validity
            }
        )
    }

    /// The leaf and the intermediate as the policy sees them.
    var chain: [Certificate] { get throws { try client.chain.map { try $0.asCertificate } } }
    var chainPEM: Data { Data(client.chainPEM.utf8) }
    var keyPEM: Data { Data(client.privateKeyPEM.utf8) }
    /// Chain and key in one file.
    var pem: Data { chainPEM + keyPEM }
    var identity: ClientIdentity { get throws { try ClientIdentity(pem: pem) } }
}

/// The error of making an identity; nil when it is made.
func identityError(_ make: () throws -> ClientIdentity) -> ClientIdentityError? {
    do {
        _ = try make()
        return nil
    } catch {
        return error as? ClientIdentityError
    }
}

extension ClientIdentity {
    /// The key that is handed to the engine.
    var keyText: String { withPrivateKeyPEM { String(decoding: $0, as: UTF8.self) } }
}
