import CCurl
import CCurlShims

/// Keeps connections and TLS sessions of different policies apart.
///
/// libcurl reuses a connection, and resumes a TLS session, when the options that it knows are the same, and an own
/// verify callback is not one of them: without a marker a strict request rides on a lenient request's connection
/// and nobody is asked. So an option that is compared in both places carries the policy's identity, and that of the
/// client, whose key libcurl does not compare. Nothing reads libcurl's store, so it makes nobody trusted.
enum PolicyMarker {
    /// Whom a TLS connection is made to.
    enum Peer {
        case server, proxy
    }

    /// Marks all that a handle does from now on.
    static func put(_ policyID: String, on easy: UnsafeMutableRawPointer, for peer: Peer) -> (
        CURLcode, CURLoption
    ) {
        if isPath {
            let option = peer == .server ? CURLOPT_CAPATH : CURLOPT_PROXY_CAPATH
            return (nm_easy_setopt_string(easy, option, path(for: policyID)), option)
        }
        let option = peer == .server ? CURLOPT_CAINFO_BLOB : CURLOPT_PROXY_CAINFO_BLOB
        let code = bytes(for: policyID).withUnsafeBytes {
            nm_easy_setopt_blob(easy, option, $0.baseAddress, $0.count)
        }
        return (code, option)
    }

    /// Whether the marker is the name of a folder of certificates (CURLOPT_CAPATH).
    ///
    /// It costs a connection nothing, as OpenSSL looks into a folder only when it searches. A blob it parses: a sixth of
    /// a millisecond. Later versions than were measured may read the system's bundle when no file is named, so they get
    /// the blob.
    private static let isPath = CurlLibrary.version > 0 && CurlLibrary.version < 0x08_00_00

    /// A folder that there can never be, as it would lie inside of a device.
    static func path(for policyID: String) -> String { "/dev/null/policy \(policyID)" }

    /// A certificate with the identity in front of it (CURLOPT_CAINFO_BLOB, whose text is compared, too).
    ///
    /// There must be one for libcurl to accept it; this one was made for the purpose and its key thrown away.
    static func bytes(for policyID: String) -> [UInt8] {
        Array("policy \(policyID)\n\(certificate)\n".utf8)
    }

    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBwDCCAWagAwIBAgIUfOF7EUyIaiZK3tQ4o8uUw5LBUOcwCgYIKoZIzj0EAwIw
        NjE0MDIGA1UEAwwrTmV0TWFuYWdlciBwb2xpY3kgbWFya2VyLCB0cnVzdGVkIGJ5
        IG5vYm9keTAgFw0yNjExMzAwNTQ4NDVaGA8yMTI2MTEwNjA1NDg0NVowNjE0MDIG
        A1UEAwwrTmV0TWFuYWdlciBwb2xpY3kgbWFya2VyLCB0cnVzdGVkIGJ5IG5vYm9k
        eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMKkhMQILwD35zQ+/ZU3SUaJ8r8O
        4rFGS8evPPjsAdO/ES77+R3RJ9WydDkn4qu+eAAN+xDutprIZvCvi9P7YOSjUDBO
        MB0GA1UdDgQWBBT7ZHHzdER1JWMwW2HJLOKyqgnTejAfBgNVHSMEGDAWgBT7ZHHz
        dER1JWMwW2HJLOKyqgnTejAMBgNVHRMBAf8EAjAAMAoGCCqGSM49BAMCA0gAMEUC
        IQDJGwdwKOBk0pbwpi+5S8wTyTu5MsBdnnKF5YiiCmbggwIgASkKvB3j98RnRvYC
        uh8gNEUkCKtTnddgUUf+Lwiv8DA=
        -----END CERTIFICATE-----
        """
}
