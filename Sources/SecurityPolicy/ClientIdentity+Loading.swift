public import FoundationEssentials

extension ClientIdentity {
    /// Reads PEM.
    ///
    /// - Parameters:
    ///   - pem: The certificate with its intermediates, in any order, and the private key unless `key` holds it. Text
    ///     between the blocks, certificate requests and parameters are passed over.
    ///   - key: The private key, when it is kept apart: PKCS#8 (RFC 5958) or the older forms of OpenSSL.
    ///   - password: What an encrypted key was encrypted with; not used otherwise.
    /// - Throws: ``ClientIdentityError``: for a password that is missing or wrong, for a key that is missing, is one of
    ///   several or is not the certificate's, for one that takes more than ten million iterations to decrypt, for what
    ///   OpenSSL would refuse in a handshake. Dates are not checked here: see ``check(at:)``.
    public init(pem: Data, key: Data? = nil, password: String? = nil) throws(ClientIdentityError) {
        var reader = ClientIdentityReader(password: password)
        try reader.readPEM(pem)
        if let key { try reader.readPEM(key) }
        self = try reader.identity()
    }

    /// Reads PKCS#12 (RFC 7292), the form of .p12 and .pfx files.
    ///
    /// Files of old programs, encrypted with RC2 or triple DES, are read too; the algorithms are allowed for this one
    /// file and nowhere else in the process.
    /// - Parameters:
    ///   - pkcs12: The certificate, its intermediates and the private key.
    ///   - password: The password; nil and an empty one mean the same.
    /// - Throws: ``ClientIdentityError``, as for PEM.
    public init(pkcs12: Data, password: String? = nil) throws(ClientIdentityError) {
        var reader = ClientIdentityReader(password: password)
        try reader.readPKCS12(pkcs12)
        self = try reader.identity()
    }

    /// Reads PEM or PKCS#12 files of at most 16 MiB, whichever they are.
    ///
    /// - Parameters:
    ///   - path: A PEM file with the certificate, or a PKCS#12 file.
    ///   - keyPath: The PEM file with the private key, when it is kept apart.
    ///   - password: The password of the key or of the PKCS#12 file.
    /// - Returns: The identity.
    /// - Throws: ``ClientIdentityError``; what is malformed is named with its path.
    public static func load(
        contentsOf path: String,
        key keyPath: String? = nil,
        password: String? = nil
    ) throws(ClientIdentityError) -> ClientIdentity {
        var reader = ClientIdentityReader(password: password)
        for path in [path, keyPath].compactMap({ $0 }) {
            var data = try contents(of: path)
            defer { ClientIdentitySecret.wipe(&data) }
            do {
                if CertificateReader.isPEM(data) {
                    try reader.readPEM(data)
                } else {
                    try reader.readPKCS12(data)
                }
            } catch .malformed(let reason) {
                throw .malformed(reason: "\(path): \(reason)")
            }
        }
        return try reader.identity()
    }

    private static func contents(of path: String) throws(ClientIdentityError) -> Data {
        do {
            return try Certificate.contents(of: path)
        } catch .unreadable(let path, let reason) {
            throw .unreadable(path: path, reason: reason)
        } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
    }
}
