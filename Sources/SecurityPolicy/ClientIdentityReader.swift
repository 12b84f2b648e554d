import COpenSSL
import COpenSSLShims
import FoundationEssentials

/// Collects certificates and private keys out of files, then puts an identity together.
struct ClientIdentityReader {
    private let password: String?
    private var certificates: [Certificate] = []
    /// Unencrypted PKCS#8, DER.
    private var keys: [ClientIdentitySecret] = []
    private var work = KeyDerivationWork()

    init(password: String?) { self.password = password }

    // MARK: PEM

    /// Reads every block that is a certificate or a private key.
    mutating func readPEM(_ data: Data) throws(ClientIdentityError) {
        defer { ERR_clear_error() }
        guard CertificateReader.isPEM(data) else {
            throw .malformed(reason: "the \(data.count) bytes are no PEM; -----BEGIN is missing")
        }
        guard let count = Int32(exactly: data.count), let bio = BIO_new(BIO_s_mem()) else {
            throw .malformed(reason: "the input is too large")
        }
        defer { BIO_free(bio) }
        _ = data.withUnsafeBytes { BIO_write(bio, $0.baseAddress, count) }
        var number = 0
        while true {
            number += 1
            ERR_clear_error()
            guard let block = ClientIdentityBlock(nextIn: bio) else {
                // No further start line is the regular end; everything else is a broken block.
                let reason = Int32(truncatingIfNeeded: ERR_peek_last_error() & UInt(ERR_REASON_MASK))
                if reason == PEM_R_NO_START_LINE { return }
                throw .malformed(reason: "PEM block \(number) is damaged (\(OpenSSLText.lastError()))")
            }
            try read(block, number)
        }
    }

    private mutating func read(_ block: borrowing ClientIdentityBlock, _ number: Int)
        throws(ClientIdentityError)
    {
        switch block.label {
        case "CERTIFICATE", "X509 CERTIFICATE", "PKCS7", "CMS", "PKCS #7 SIGNED DATA":
            do {
                certificates += try Certificate.certificates(in: Data(block.contents))
            } catch {
                throw .malformed(reason: "PEM block \(number) is no certificate that can be read (\(error))")
            }
        case "OPENSSH PRIVATE KEY":
            throw .malformed(
                reason: """
                    PEM block \(number) is a key for SSH, which TLS cannot use; make a key with: openssl genpkey
                    """
            )
        case let label where label.hasSuffix("PRIVATE KEY"):
            guard let library = ClientIdentityLibrary() else {
                throw .unsupported(reason: "no library context could be made")
            }
            keys.append(try ClientIdentityKey.read(block, number, password, in: library.context, &work))
        default:
            // Requests, parameters, comments of other tools: nothing that is sent.
            break
        }
    }

    // MARK: PKCS#12

    /// Reads the certificates and the private key.
    mutating func readPKCS12(_ data: Data) throws(ClientIdentityError) {
        defer { ERR_clear_error() }
        guard let library = ClientIdentityLibrary() else {
            throw .unsupported(reason: "no library context could be made")
        }
        let context = library.context
        let contents = try ClientIdentityBundle.read(data, password: password, in: context, &work)
        certificates += contents.certificates
        keys += contents.keys
    }

    // MARK: The identity

    /// Finds the certificate of the key and puts the others in order behind it.
    func identity() throws(ClientIdentityError) -> ClientIdentity {
        defer { ERR_clear_error() }
        guard let first = certificates.first else {
            throw keys.isEmpty
                ? .malformed(reason: "it has neither certificate nor private key") : .noCertificate
        }
        guard let secret = keys.first else { throw .noPrivateKey }
        guard keys.allSatisfy({ $0.hasSameBytes(as: secret) }) else {
            throw .malformed(
                reason: "there is more than one private key in it; give the one of the certificate"
            )
        }
        // From here on in the process's own context, which is the one that handshakes use.
        guard let key = ClientIdentityKey.parsed(secret) else {
            throw .unsupported(reason: "private keys of this kind (\(OpenSSLText.lastError()))")
        }
        defer { EVP_PKEY_free(key) }
        let own = certificates.firstIndex { X509_check_private_key($0.record.x509, key) == 1 }
        guard let own else { throw .keyDoesNotMatch(subject: first.subject) }
        let chain = ClientIdentityReader.ordered(certificates, from: own)
        try ClientIdentityReader.tryOut(chain, key)
        return try ClientIdentity(certificates: chain, privateKeyDER: secret)
    }

    /// The certificate at an index, then its issuer and so on, then what is left in the order of the files.
    private static func ordered(_ certificates: [Certificate], from index: Int) -> [Certificate] {
        var left = certificates
        var current = left.remove(at: index)
        var chain = [current]
        left.removeAll { $0 == current }
        while !current.isSelfSigned,
            let next = left.firstIndex(where: { X509_check_issued($0.record.x509, current.record.x509) == 0 })
        {
            current = left.remove(at: next)
            chain.append(current)
        }
        return chain + left
    }

    /// Lets OpenSSL judge strength and kind as it will in every handshake.
    private static func tryOut(_ chain: [Certificate], _ key: OpaquePointer) throws(ClientIdentityError) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()), let stack = nm_sk_x509_new() else {
            throw .unsupported(reason: "no TLS context could be made (\(OpenSSLText.lastError()))")
        }
        defer {
            nm_sk_x509_free(stack)
            SSL_CTX_free(context)
        }
        for certificate in chain.dropFirst() { _ = nm_sk_x509_push(stack, certificate.record.x509) }
        guard SSL_CTX_use_cert_and_key(context, chain.first?.record.x509, key, stack, 1) == 1 else {
            throw .refused(reason: OpenSSLText.lastError())
        }
    }
}
