public import FoundationEssentials

/// Why a client identity could not be made, or must not be used.
@nonexhaustive
public enum ClientIdentityError: Error, Sendable, Hashable {
    /// The file cannot be read.
    case unreadable(path: String, reason: String)
    /// The bytes are not what was expected; the reason says what they are and, for a file, its path.
    case malformed(reason: String)
    /// The key or the file is encrypted and no password was given.
    case passwordRequired
    /// The password does not open the key or the file.
    case wrongPassword
    /// The encryption, or the kind of key, is one that this machine's OpenSSL does not know.
    case unsupported(reason: String)
    /// There is no certificate.
    case noCertificate
    /// There is no private key.
    case noPrivateKey
    /// None of the certificates is for the private key; `subject` is that of the first one.
    case keyDoesNotMatch(subject: String)
    /// OpenSSL refuses to use it in a handshake, mostly since a key is too short or a digest too old.
    case refused(reason: String)
    /// The certificate is not valid any more since `notAfter`.
    case expired(subject: String, notAfter: Date)
    /// The certificate is not valid before `notBefore`.
    case notYetValid(subject: String, notBefore: Date)
}

extension ClientIdentityError: CustomStringConvertible {
    /// What failed, where, and what to do; never anything of the key or the password.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason):
            "Cannot read the client identity \(path): \(reason). Check the path and its permissions."
        case .malformed(let reason):
            "Not a usable client identity: \(reason)."
        case .passwordRequired:
            "The private key of the client identity is encrypted. Give its password."
        case .wrongPassword:
            """
            The password does not open the client identity. Give the one that it was exported with, or export it \
            again.
            """
        case .unsupported(let reason):
            """
            The client identity is encrypted or made in a way that OpenSSL does not support here: \(reason). Export \
            it again with AES-256, or install OpenSSL's legacy provider if the file is an old one.
            """
        case .noCertificate:
            """
            The client identity has no certificate. Give the certificate that belongs to the private key, its \
            intermediates behind it.
            """
        case .noPrivateKey:
            """
            The client identity has no private key. Give the file with the key too, or export certificate and key \
            together.
            """
        case .keyDoesNotMatch(let subject):
            """
            The private key of the client identity is not the one of its certificate (\(subject)). Give the key with \
            which that certificate was requested.
            """
        case .refused(let reason):
            """
            OpenSSL refuses the client identity: \(reason). Have a certificate issued for an RSA key of 2048 bits or \
            more, or for P-256, with SHA-256 signatures.
            """
        case .expired(let subject, let notAfter):
            """
            The client certificate (\(subject)) expired on \(notAfter.formatted(.iso8601)). Have it renewed; if it \
            is in date, check the clock of this machine.
            """
        case .notYetValid(let subject, let notBefore):
            """
            The client certificate (\(subject)) is valid only from \(notBefore.formatted(.iso8601)) on. Check the \
            clock of this machine, or wait.
            """
        }
    }
}
