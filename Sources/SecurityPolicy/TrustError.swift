import COpenSSL
import FoundationEssentials

/// Why a server is not trusted, or why a policy cannot be used.
@nonexhaustive
public enum TrustError: Error, Sendable, Hashable {
    /// The server sent no certificate.
    case noCertificate
    /// More than 32 certificates or more than 128 KiB were sent.
    case chainTooLarge
    /// The policy pins something and has no usable pin; it would refuse every server.
    case noPinsConfigured
    /// The policy checks names but neither anchors nor pins, which proves nothing.
    case domainValidationNeedsPinsOrTrust
    /// The policy checks names and was asked without one.
    case domainRequired
    /// The host is neither an address nor a DNS name in A-label form.
    case domainInvalid(String)
    /// The certificate is for other hosts; `names` are those.
    case domainMismatch(domain: String, names: [String])
    /// The server's key is too weak, too large or of an unknown kind.
    case weakKey(String)
    /// No valid path to a trust anchor: OpenSSL's `X509_V_ERR_…` number and its text.
    case untrusted(code: Int, reason: String)
    /// No pin is on a verified path; the keys as sent, leaf first, and the keys that would have been accepted.
    case pinMismatch(presented: [PublicKeyPin], pinned: [PublicKeyPin])
    /// The certificate was revoked, or that it was not could not be shown although the policy demands it.
    case revoked(String)
}

extension TrustError {
    /// OpenSSL's own words, and where in the chain.
    init(_ failure: ChainVerifier.Failure) {
        var reason =
            failure.reason ?? X509_verify_cert_error_string(Int(failure.code)).map { String(cString: $0) }
            ?? "unknown error"
        if !failure.subject.isEmpty {
            reason += " (certificate \(failure.depth + 1) of the path, \(failure.subject))"
        }
        self =
            failure.code == X509_V_ERR_CERT_REVOKED
            ? .revoked(reason) : .untrusted(code: Int(failure.code), reason: reason)
    }
}

extension TrustError: CustomStringConvertible {
    /// What failed and what to do about it; a pin failure ends with lines that can be pasted into a configuration.
    public var description: String {
        switch self {
        case .noCertificate:
            "The server sent no certificate. Check that a TLS server with a certificate listens on this port."
        case .chainTooLarge:
            """
            The server sent more than \(ServerTrust.largestCount) certificates or \(ServerTrust.largestSize >> 10) KiB \
            of them. Configure it to send its own certificate and the intermediates only.
            """
        case .noPinsConfigured:
            """
            The security policy has a pinning mode but no pin that counts in it. Add pinnedCertificates (or, in mode \
            publicKey, pinnedPublicKeys), or use mode none.
            """
        case .domainValidationNeedsPinsOrTrust:
            """
            The security policy allows invalid certificates, pins nothing and checks the host name, which anyone can \
            put into a certificate. Pin a certificate or key, or do not allow invalid certificates.
            """
        case .domainRequired:
            "The security policy checks the host name, but none was given. Give the host, or turn the check off."
        case .domainInvalid(let domain):
            """
            "\(OpenSSLText.printable(domain.utf8))" is no host name: give an address or a DNS name, international \
            names in their xn-- form.
            """
        case .domainMismatch(let domain, let names):
            """
            The server's certificate is not for \(domain). It is for \
            \(names.isEmpty ? "no host at all (it has no subject alternative name)" : names.joined(separator: ", ")). \
            Check the URL, or have a certificate issued that names this host.
            """
        case .weakKey(let weakness):
            """
            The server's public key is not acceptable: \(weakness). Have a certificate issued for an RSA key of 2048 \
            bits or more, or for P-256.
            """
        case .untrusted(let code, let reason):
            "The server's certificate chain is not trusted: \(reason) [X.509 error \(code)]. \(TrustError.advice(code))"
        case .pinMismatch(let presented, let pinned):
            TrustError.mismatch(presented: presented, pinned: pinned)
        case .revoked(let reason):
            "The server's certificate counts as revoked: \(reason). Have a new certificate issued."
        }
    }

    private static func advice(_ code: Int) -> String {
        switch Int32(clamping: code) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            "Renew the certificate on the server; if it is in date, check the clock of this machine."
        case X509_V_ERR_CERT_NOT_YET_VALID:
            "Check the clock of this machine, and the date from which the certificate is valid."
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            """
            Have the server send its intermediate certificates; if the authority is a private one, add it to \
            trustAnchors. A machine without any list of authorities needs the package ca-certificates, or \
            SSL_CERT_FILE.
            """
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            """
            If this is your own authority, add it to trustAnchors, or pin it with allowInvalidCertificates; \
            otherwise somebody may be between you and the server.
            """
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            "Have certificates issued with RSA of 2048 bits or more, or P-256, and SHA-256 signatures."
        case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_INVALID_CA:
            "Use a certificate that was issued for TLS servers by an authority that may issue them."
        case X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_CRL_HAS_EXPIRED, X509_V_ERR_CRL_NOT_YET_VALID:
            "Give the policy a current revocation list of every authority on the path."
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION:
            "The authority is not allowed to vouch for this name; use one that is."
        case X509_V_ERR_APPLICATION_VERIFICATION:
            "The program's own serverTrustChallenge decides; its answer is what to look at."
        case X509_V_ERR_CERT_SIGNATURE_FAILURE:
            "The certificate was not issued by the authority that it names; somebody may have forged it."
        default:
            "Check the chain that the server sends, for example with openssl s_client -showcerts."
        }
    }

    private static func mismatch(presented: [PublicKeyPin], pinned: [PublicKeyPin]) -> String {
        func line(_ pin: PublicKeyPin) -> String {
            guard let sighting = pin.sighting else { return "\(pin)" }
            let expiry = sighting.notAfter.formatted(.iso8601.year().month().day())
            return "\(pin)  \(sighting.subject), until \(expiry)"
        }
        let host = presented.first?.sighting?.host.map { " for \(OpenSSLText.printable($0.utf8))" } ?? ""
        var lines = ["No pin matches a verified path from the server's certificate\(host)."]
        lines.append("Sent, the server's own first:")
        lines += presented.enumerated().map { "  \($0.offset + 1). \(line($0.element))" }
        lines.append("Pinned:")
        lines += pinned.map { "  \(line($0))" }
        lines.append(
            """
            If the server's keys were changed on purpose, pin one of these, after comparing it with the server's \
            administrator; otherwise somebody may be between you and the server:
            """
        )
        lines += presented.map { "  \($0)" }
        return lines.joined(separator: "\n")
    }
}
