import FoundationEssentials
import NetManager
import SecurityPolicy

/// A server's chain of two below a root that is both anchor and pin.
///
/// It is the same in every run, as is the time at which it is judged: keys and signatures that are made anew take a few
/// instructions more or less.
struct PinnedChain {
    let policy: SecurityPolicy
    let trust: ServerTrust

    init() throws {
        let chain = try Certificate.certificates(in: Data(PinnedChain.pem.utf8))
        let anchors = Set(chain.suffix(1))
        policy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: anchors,
            trustAnchors: .certificates(anchors),
            // The first day of 2050; the certificates end in 2126.
            verificationDate: Date(timeIntervalSince1970: 2_524_608_000)
        )
        trust = ServerTrust(certificates: Array(chain.dropLast()))
    }

    /// Leaf first; the keys were thrown away.
    private static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIBwzCCAWigAwIBAgIULDfJoGG+WrmThPS1xXPSS3Q2SGMwCgYIKoZIzj0EAwIw
        HTEbMBkGA1UEAwwSR3VhcmQgaW50ZXJtZWRpYXRlMCAXDTI2MTEzMDEyMDE0MFoY
        DzIxMjYxMTA2MTIwMTQwWjAXMRUwEwYDVQQDDAxob3N0LmV4YW1wbGUwWTATBgcq
        hkjOPQIBBggqhkjOPQMBBwNCAASEiStJL9EqKg2/dmNKdIS0TiWFiiqJtvbU0+yx
        mm2wKGWVT6VGnzg7i8STtavS/cDu5Xq5sDRiSks2V8Nmb+iHo4GJMIGGMAkGA1Ud
        EwQCMAAwFwYDVR0RBBAwDoIMaG9zdC5leGFtcGxlMBMGA1UdJQQMMAoGCCsGAQUF
        BwMBMAsGA1UdDwQEAwIHgDAfBgNVHSMEGDAWgBQvHvffOoezH3GePBIOol90Tmpc
        6TAdBgNVHQ4EFgQUEzYsO87ACE2G+oxYgseLdFPpI0AwCgYIKoZIzj0EAwIDSQAw
        RgIhANzGu6ix/rAK7O3zAmbDNf1/9pWLBuyt2/y2WXbuFe6XAiEA8iMH/qMkaMly
        nlyZ6U2QKDqi5lGU9SM/fe+o6mgGWA0=
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIBmDCCAT+gAwIBAgIUavOdDP7f9/m7rjEklZjP/tdTAeUwCgYIKoZIzj0EAwIw
        FTETMBEGA1UEAwwKR3VhcmQgcm9vdDAgFw0yNjExMzAxMjAxNDBaGA8yMTI2MTEw
        NjEyMDE0MFowHTEbMBkGA1UEAwwSR3VhcmQgaW50ZXJtZWRpYXRlMFkwEwYHKoZI
        zj0CAQYIKoZIzj0DAQcDQgAEm/V+/CfiiGpXptUn4xQxRdjpIvUOsX/abLQ26wet
        xtGJVAsmxb4kcG7cZAE36dQt+K4KjXYWg/u2w6L+r+Zp0KNjMGEwDwYDVR0TAQH/
        BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAgQwHwYDVR0jBBgwFoAUXK7lGnO4YaCSQ/+P
        ukWrzKQmpDYwHQYDVR0OBBYEFC8e9986h7MfcZ48Eg6iX3ROalzpMAoGCCqGSM49
        BAMCA0cAMEQCIBFGnKrZ7rl+JD4yazd7DyNajNj1r5qkgsb9ioA4ZPZ2AiBWM534
        AG0UkvVqb5GZIMRUW8djIkwAqt+XCKWoss49ww==
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIBkTCCATegAwIBAgIUSdMyY12SfXIAEZ30uP927X+5CzYwCgYIKoZIzj0EAwIw
        FTETMBEGA1UEAwwKR3VhcmQgcm9vdDAgFw0yNjExMzAxMjAxMzlaGA8yMTI2MTEw
        NjEyMDEzOVowFTETMBEGA1UEAwwKR3VhcmQgcm9vdDBZMBMGByqGSM49AgEGCCqG
        SM49AwEHA0IABE6f7EjL4DgUQC65l5LhLWRkc4JEF6BBlgr3GzMbgSxo88Opsr0v
        Eepru6RFcKZKuYwc1LrQFF0NBRnNG1k+Q2GjYzBhMB0GA1UdDgQWBBRcruUac7hh
        oJJD/4+6RavMpCakNjAfBgNVHSMEGDAWgBRcruUac7hhoJJD/4+6RavMpCakNjAP
        BgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwICBDAKBggqhkjOPQQDAgNIADBF
        AiA5UjN5+GXgHPIZhcLDuIG1f4qkcfqKEt+5Wz81o1rn6wIhAPd2ffWFa7zkieiD
        /YIb/XbO/tMO1G417qq2qWCUkflN
        -----END CERTIFICATE-----
        """
}
