/// Keeps connections and TLS sessions of different policies apart.
///
/// libcurl reuses a connection, and resumes a TLS session, when the options that it knows are the same, and an own
/// verify callback is not one of them: without a marker a strict request rides on a lenient request's connection
/// and nobody is asked. CURLOPT_CAINFO_BLOB is compared in both places, text in front of the PEM included, so it
/// carries the policy's identity, and that of the client, whose key libcurl does not compare. It must hold a certificate to be accepted; this one was made for the
/// purpose and its key thrown away, and nothing reads libcurl's store, so it makes nobody trusted.
enum PolicyMarker {
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
