// module: SecurityPolicy
//
// Any bytes as a client identity, and good ones with some bytes changed: PEM with a plain and with encrypted keys, PKCS#12
// of today and of long ago. Reading must end without a crash, and what was read must be fit for the handshake.
//
// The key is for this purpose only.

import FoundationEssentials
import SecurityPolicy

/// One input under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzClientIdentity(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let rest = input.dropFirst()
    let pem = armored("CERTIFICATE", certificate)
    let identity: ClientIdentity?
    switch first % 8 {
    case 0: identity = try? ClientIdentity(pem: Data(rest), password: "p")
    case 1: identity = try? ClientIdentity(pkcs12: Data(rest), password: "p")
    case 2: identity = read(pem, armored("PRIVATE KEY", changed(key, by: rest)))
    case 3: identity = read(pem, armored("ENCRYPTED PRIVATE KEY", changed(encryptedKey, by: rest)))
    case 4: identity = read(pem, changed(Array(oldKey.utf8), by: rest))
    case 5: identity = try? ClientIdentity(pkcs12: Data(changed(bundle, by: rest)), password: "p")
    case 6: identity = try? ClientIdentity(pkcs12: Data(changed(oldBundle, by: rest)), password: "p")
    default:
        identity = read(armored("CERTIFICATE", changed(certificate, by: rest)), armored("PRIVATE KEY", key))
    }
    guard let identity else { return 0 }
    precondition(!identity.certificates.isEmpty, "an identity without a certificate")
    precondition("\(identity)".contains("PRIVATE KEY") == false, "the description shows the key")
    _ = try? identity.check(at: Date(timeIntervalSince1970: 0))
    precondition(identity == identity)
    return 0
}

private func read(_ pem: [UInt8], _ key: [UInt8]) -> ClientIdentity? {
    let together = try? ClientIdentity(pem: Data(pem + key), password: "p")
    let apart = try? ClientIdentity(pem: Data(pem), key: Data(key), password: "p")
    precondition(together == apart, "one file and two files are read differently")
    return together
}

/// PKCS#8.
private let key = decoded(
    """
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1QA+mbuHDqFYszIawAGG9S5vXWzyum/JA/N7ll7YmN2hRANCAASy
    FKZ3D5lexjGKwliU7mZ7sxzC60sXgjvNE6P8T1NNSYg/1PEOtybfxgBdCiTWPRKtk72yad6fLeIA7+OiRVoK
    """
)

/// PKCS#8 under the password p.
private let encryptedKey = decoded(
    """
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiyYB+8l87SJQICA+gwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoE
    EPTCbxqk0wzvilkr1GTM4V8EgZC86svAbHLEIWCIDsQxo8ds1m7GkeEpBJuk9wqyoGvX5nEmIKT+Cjp+yhYJNS5aAHMGkApKAWEg
    R4XnPpthZyEEbleIcRW1KpoVbfWcAt+NBNCskx6uzYfMsaoxJArxUXzFADTrdHDxMEiFfYtmit0rjp9vDBEF/ba/8psE2fPb2QyO
    tUd9gT7HIpTMwLJBntE=
    """
)

/// The older encryption of PEM, under the password p.
private let oldKey = """
    -----BEGIN EC PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,C506E1B1C800A37B1987014739812AAB

    dWx+giHvnOF11HeU1M08RYEhdk+NidkiuuVjDJa1eQie0CD4znN3jcN4C1q6dTq5
    +P7hsLEr3Gqewm8PdFKtkwZ5FKqmGsUhvNmK66qX6uuqhFmkdtDuPIwqilMeUiCX
    0ph5TioFuACt5IY0hLsSY74uXqKdgGE5nI7CF7JRvAI=
    -----END EC PRIVATE KEY-----
    """

/// PKCS#12 with AES, under the password p.
private let bundle = decoded(
    """
    MIIEaQIBAzCCBCAGCSqGSIb3DQEHAaCCBBEEggQNMIIECTCCAsEGCSqGSIb3DQEHBqCCArIwggKuAgEAMIICpwYJKoZIhvcNAQcB
    MFYGCSqGSIb3DQEFDTBJMCgGCSqGSIb3DQEFDDAbBAhZhVpNfEu1IgIBZDAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQe8gu
    HHSjS0tqPL30jYqKWoCCAkAMifcQuAGqZ3xYDHSZoPZoDsIKYUhb81LqXFtslQvoScJVgCLO6E4q7Z3A0yYYh8XvTz8xP+t2d30n
    tuWr/Byt07vrASBI8r3fTjAn5LkvAnZvURB6qFu86HdtE+qblxebBGX2trTKJyHpjMO1QwoO8bwXgcI8gHBAb2C0oFe4/qtqUJgb
    fby/aPyCUxXASoC6RLWD/JCP22NqIeUCROHNNvOv3nHUztPoYhmHfzEyaWrcls3RilOPDvJGAHzcAS4F0b7cp+TwCUH7rM0RBmLF
    Ruh3sVGKP+BalVpxEHn8AZteVu4Z9vcPl5in6xWoSQrPx6kVJ3yjxjsLSOLotVxw5J5GpSVNUUNVqpVs6WIGNJ0RuqInI0dd7eD9
    5i82hwQl9j8aHlhVL5OKeFS54pbIyO+K2E0i+y2dDC/PRKNCc0553gWtRXeCCm9YoV50JdRwuVq8TVADy3+7Ky/Y+GC8En4LOoMz
    zi7dpR4gSNlGgUF4eNJOkXxKQjPYGURpAYcF7qtdz68NzK+ulalSmjKIHS0IRBs6w4RcHb8lef7Pg6sEzHUCf6bs3KHJ5yC+l6me
    uCXBsSe2Ov8FJb72fsEq4jONvZOo2WWuJApEhIAG9T430vZya0e3PwMhNtJ8brMp8m64ZyARKTMPDjDSymog188H1bAkiTVZMGIk
    1+dFuF60vM8IXRcpiGNT6xL47Mys4VAf1mA2qGP3WIzL43rEhgPL3RfQVhvVUk3SUN2tsxwxAImuWCV9fKpMfFo3o+MwggFABgkq
    hkiG9w0BBwGgggExBIIBLTCCASkwggElBgsqhkiG9w0BDAoBAqCB7jCB6zBWBgkqhkiG9w0BBQ0wSTAoBgkqhkiG9w0BBQwwGwQI
    biKjjWtnzuUCAWQwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEELpKDSRh223lXqkvvgwLl7MEgZBExX4AvtxdduslTRhgKqZS
    nAmIm0FeWWA7GrxFOyNn6uJp4aNqe2OzXKer29ysMarsK/uSAJ16mPOrd5MzqTzst5LFIaEusSgQuBB+sJq/DH7Kkicg86QEc5qa
    am/r4J9NyodE3DIoJHnu3W8GCsM5eWQIPLCv5W8EyRAbUAeNgaKIRCsqTArJeiLSu9Rqo5IxJTAjBgkqhkiG9w0BCRUxFgQUs173
    cUq7yKGQm/KscAYqczIhXBMwQDAxMA0GCWCGSAFlAwQCAQUABCCg1D1PYLsfeuqj+UIsH5G0iDdeDa3ztg3eJIEAvcjuQQQIlESx
    2sYnDiMCAWQ=
    """
)

/// PKCS#12 with RC2 and triple DES, under the password p.
private let oldBundle = decoded(
    """
    MIID3wIBAzCCA6YGCSqGSIb3DQEHAaCCA5cEggOTMIIDjzCCAoYGCSqGSIb3DQEHBqCCAncwggJzAgEAMIICbAYJKoZIhvcNAQcB
    MBsGCiqGSIb3DQEMAQYwDQQIwadZuH+gKzMCAWSAggJAcqxgnqpjzxnePkpwdIL75KZ5Li76iGWU0YpC1D9LNP2yFbcdOv5JTKRo
    7KfOqPt2B2drjHGYLmUQQdVCaUQWO8qI3pkVySQ1vMZTwU4omPXmUfy0iDaVEu+Q2Qtv6ASkFD9aPu5utygZ58urvEHWlpJZTZzA
    brcYbBc3RZiWkBJXQ4McKBu3tgD7ncyFqVGranmfcvO6QC4ytkh8Zi4OupRgo01MBtq2sISk5nFYReJ2X20zqB6yTKVAJOp8gIMe
    U6w5T53MYmfsyIjYNMYh0XE40FpOYgThviQJ1xeVdqN2ESYOct5sSZKBtWg4cZ7YuwoP/MEtaNR3Tptcgn+p99qljspA3vTa4/UI
    66zIOPMSamtZ/GaMAZI1a9wV8nQgSEbv9PdkMHauBrqUlKjL6gIwW1p09/B8h19j3pwf/5yiqmgh+SutJpgsII8VSKvYAlFxY/gd
    ZSP93b0gxZe9Ppd2mfP6lErXcaBPuKNqR4Lw/fYv92k629Hzl2ejrI6A0N925bM9BahrBKEfyZaclAfVAmqrNxZKhEPHnHYehlwP
    iUEKvNIPWQf7fXlaJTYCjrh9d7hczEymtk956EbYvS3XCeMLi+wviKnu1BVUPRY5El77/2P+NMrxPjsHeyumjhWegPXU/aeDqPBK
    9UeqPDjO8LhkOhmQy+LvawaR8NiTo4itL+xGZ4AxW1Fm/iQQPSs9zzPr9JmlWshV2PpI/RLC6jS+mQcV75+LNdGKBeTWouSLkq7P
    /q2trqBDxMGAMIIBAQYJKoZIhvcNAQcBoIHzBIHwMIHtMIHqBgsqhkiG9w0BDAoBAqCBszCBsDAbBgoqhkiG9w0BDAEDMA0ECLyL
    ETFQi3ynAgFkBIGQXdMXFnea9g7g9Dse2CpF8W6Ay9TqKQMCSXzSwoxKiIZ39IfoV6jHrya8u0ApUfyIOPxSZytWSwf4jIz6/7kp
    f+N0xK3/9/8MZAjj7Qi8lcO9ZhIrqmOaHIoVIr075fzClFyNG7RQ5rHOO9v3owEkEnPRjf/ivMCNvNcTDf1NoABRgjjkyQZLgOR6
    EhzQFeN6MSUwIwYJKoZIhvcNAQkVMRYEFLNe93FKu8ihkJvyrHAGKnMyIVwTMDAwITAJBgUrDgMCGgUABBTHNsJFH70j14UKruSC
    17kXU3AjnQQILgaomEEe0QoCAWQ=
    """
)
