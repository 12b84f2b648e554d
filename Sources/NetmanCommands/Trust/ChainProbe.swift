import FoundationEssentials
import NetManager
import SecurityPolicy

/// Learns which certificates a server sends, without sending it a request.
///
/// The handshake is made under a policy that trusts nobody: it ends with the server's certificates in the error, and
/// before a byte of HTTP.
struct ChainProbe {
    var timeout: Duration = .seconds(15)
    /// What else to say of a name that nobody knows; nil for nothing.
    var hint: String?

    /// Asks a server.
    ///
    /// - Returns: What it showed, leaf first.
    /// - Throws: ``CommandFailure`` when it cannot be reached or shows nothing that can be read.
    func certificates(of server: ServerAddress) async throws -> ServerTrust {
        guard let nobody = PublicKeyPin(digest: Data(count: 32)) else {
            preconditionFailure("32 bytes are a digest")
        }
        var options = RequestOptions()
        // No key has a digest of zeros; nothing else about the certificates matters here.
        options.securityPolicy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedPublicKeys: [nobody],
            allowInvalidCertificates: true,
            validatesDomainName: false
        )
        options.timeout = timeout
        options.redirectPolicy = .stop
        do {
            _ = try await HTTPSessionManager().head(server.url, options: options)
        } catch let error as RequestError {
            if let trust = error.serverTrust { return trust }
            guard case .nameNotResolved = error.kind, let hint else {
                throw CommandFailure(message: "\(error)")
            }
            throw CommandFailure(message: "\(error) \(hint)")
        }
        throw CommandFailure(message: "\(server) was trusted by a policy that trusts nobody")
    }
}
