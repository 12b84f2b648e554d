import FoundationEssentials
import NetManager
import TestPKI
import TestServer

/// A server that asks for client certificates of one authority, and those who have one.
struct MutualServer {
    enum Demand: Sendable {
        case optional, required
    }

    let server: TestServer
    let clients: Authority
    /// Pins the server's certificate.
    let policy: SecurityPolicy

    init(
        _ version: TLSVersion,
        _ demand: Demand = .required,
        handler: @escaping TestServer.Handler = { _ in .json("{}") }
    ) throws {
        let clients = try Authority(commonName: "Client Root")
        self.clients = clients
        let identity = try Identity.selfSigned(
            .server(.dns("localhost")).with { $0.subject = .init(commonName: "localhost") }
        )
        let tls = TLSOptions(identity: identity, minimum: version, maximum: version).with {
            let anchors = [clients.certificate]
            $0.clientCertificates =
                switch demand {
                case .optional: .optional(anchors: anchors)
                case .required: .required(anchors: anchors)
                }
        }
        server = try TestServer(tls: tls, handler: handler)
        policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try Certificate(der: identity.certificateDER)],
            allowInvalidCertificates: true
        )
    }

    /// A client below an intermediate that the server does not know and must be sent.
    func client(
        _ name: String = "client",
        key: KeyKind = .p256,
        validity: CertificateOptions.Validity = .current
    ) throws -> Identity {
        try clients.intermediate(commonName: "Client Issuing").issue(
            .client(commonName: name).with {
                $0.key = .new(key)
                $0.validity = validity
            }
        )
    }

    /// The certificates that clients showed, in the order of the connections.
    var shown: [Data] { server.connections.compactMap { $0.tls?.clientCertificate } }
}

extension Identity {
    /// What the client under test makes of it.
    var asClient: ClientIdentity {
        get throws { try ClientIdentity(pem: Data((chainPEM + privateKeyPEM).utf8)) }
    }
}
