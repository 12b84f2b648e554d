// module: SecurityPolicy
//
// Any bytes as certificates, and a certificate and a PKCS#7 with some bytes changed, in DER and in PEM: reading them must
// end without a crash, and what was read must come out of its own DER and PEM again and be fit for an evaluation.

import FoundationEssentials
import SecurityPolicy

/// One input under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificate(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let rest = input.dropFirst()
    let bytes =
        switch first % 6 {
        case 0: Array(rest)
        case 1: changed(certificate, by: rest)
        case 2: armored("CERTIFICATE", changed(certificate, by: rest))
        case 3: changed(signedData, by: rest)
        case 4: armored("PKCS7", changed(signedData, by: rest))
        default: changed(armored("CERTIFICATE", certificate) + armored("PKCS7", signedData), by: rest)
        }
    guard let read = try? Certificate.certificates(in: Data(bytes)) else { return 0 }
    precondition(!read.isEmpty, "no certificate and no error")
    for certificate in read { check(certificate) }
    let trust = ServerTrust(certificates: read)
    for mode in [SecurityPolicy.PinningMode.none, .publicKey, .certificate] {
        let policy = SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: Set(read),
            allowInvalidCertificates: mode != .none,
            trustAnchors: .certificates(Set(read)),
            strictness: .webPKI
        )
        _ = policy.accepts(trust, forDomain: "f.test")
        _ = policy.accepts(trust, forDomain: "192.0.2.1")
    }
    return 0
}

private func check(_ certificate: Certificate) {
    do {
        let again = try Certificate(der: certificate.der)
        precondition(again == certificate && again.publicKeyPin == certificate.publicKeyPin)
        let fromPEM = try Certificate.certificates(in: Data(certificate.pem.utf8))
        precondition(fromPEM == [certificate], "the PEM holds something else")
    } catch {
        preconditionFailure("what was read cannot be read again: \(error)")
    }
    let texts =
        [certificate.subject, certificate.issuer, certificate.serialNumber]
        + certificate.dnsNames + certificate.ipAddresses
    precondition(!texts.contains { $0.utf8.contains(0) }, "a NUL in a text")
    _ = (certificate.notBefore, certificate.notAfter)
    _ = (certificate.isSelfSigned, certificate.isCertificateAuthority)
}

private let signedData = decoded(
    """
    MIICEAYJKoZIhvcNAQcCoIICATCCAf0CAQExADALBgkqhkiG9w0BBwGgggHlMIIB4TCCAYegAwIBAgIUCEJJPyAytuG49Q2p5MND
    AnZtApIwCgYIKoZIzj0EAwIwETEPMA0GA1UEAwwGZi50ZXN0MCAXDTI2MTEzMDA5MTY0NVoYDzIxMjYxMTA2MDkxNjQ1WjARMQ8w
    DQYDVQQDDAZmLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASyFKZ3D5lexjGKwliU7mZ7sxzC60sXgjvNE6P8T1NNSYg/
    1PEOtybfxgBdCiTWPRKtk72yad6fLeIA7+OiRVoKo4G6MIG3MBIGA1UdEwEB/wQIMAYBAf8CAQEwDgYDVR0PAQH/BAQDAgKEMBMG
    A1UdJQQMMAoGCCsGAQUFBwMBMDgGA1UdEQQxMC+CBmYudGVzdIcEwAACAYcQIAENuAAAAAAAAAAAAAAAAYYNaHR0cDovL2YudGVz
    dDAjBgNVHR4EHDAaoAowCIIGZi50ZXN0oQwwCocICgAAAP8AAAAwHQYDVR0OBBYEFGoGP3HNWOfRpSghE2P1uNrqnZLWMAoGCCqG
    SM49BAMCA0gAMEUCIGIWzhN0P1VZrjrdPktlMDmxyypcTavox11ONceRPIZhAiEAuNknl/hEfki2TDMAIKYp70xWvUTxVGtSFEAw
    RRO4XycxAA==
    """
)
