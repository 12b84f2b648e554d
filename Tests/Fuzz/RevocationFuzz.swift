// module: SecurityPolicy
//
// Any bytes, and good ones with some bytes changed, as a stapled OCSP response and as a revocation list: reading and judging
// must end without a crash, and a list must come out of its own DER again.

import FoundationEssentials
import SecurityPolicy

/// One input under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRevocation(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let rest = input.dropFirst()
    switch first % 5 {
    case 0: judge(response: Array(rest))
    case 1: judge(response: changed(goodResponse, by: rest))
    case 2: judge(list: Array(rest))
    case 3: judge(list: changed(goodList, by: rest))
    default: judge(list: armored("X509 CRL", changed(goodList, by: rest)))
    }
    return 0
}

private func judge(response: [UInt8]) {
    let chain = chain()
    let trust = ServerTrust(certificates: chain, stapledOCSPResponse: Data(response))
    let isAccepted = policy(chain).accepts(trust, forDomain: "f.test")
    precondition(isAccepted || response != goodResponse, "the good response is refused")
    precondition(!isAccepted || !response.isEmpty, "no response is accepted")
}

private func judge(list: [UInt8]) {
    guard let lists = try? RevocationList.lists(in: Data(list)) else {
        precondition(list != goodList, "the good list is not read")
        return
    }
    precondition(!lists.isEmpty, "no list and no error")
    for list in lists {
        precondition((try? RevocationList(der: list.der)) == list, "the list changes when it is read again")
        precondition(!list.issuer.utf8.contains(0), "a NUL in a text")
        _ = list.nextUpdate
    }
    let chain = chain()
    var policy = policy(chain)
    policy.stapledOCSP = .off
    policy.revocationLists = Set(lists)
    policy.strictness = .webPKI
    _ = policy.accepts(ServerTrust(certificates: chain), forDomain: "f.test")
}

/// Asks for a response; everything here is in date in 2030.
private func policy(_ chain: [Certificate]) -> SecurityPolicy {
    SecurityPolicy(
        trustAnchors: .certificates(Set(chain.suffix(1))),
        verificationDate: Date(timeIntervalSince1970: 1_900_000_000),
        stapledOCSP: .required
    )
}

/// Made for each input: the leak sanitizer does not see through `Data`, and takes what a global holds for lost.
private func chain() -> [Certificate] {
    [leaf, authority].map { der in
        guard let certificate = try? Certificate(der: Data(der)) else {
            preconditionFailure("no certificate")
        }
        return certificate
    }
}

private let authority = decoded(
    """
    MIIBjDCCATGgAwIBAgIUE1ESPc2Mu+grlSL6ZambX3jECjwwCgYIKoZIzj0EAwIwEjEQMA4GA1UEAwwHRnV6eiBDQTAgFw0yNjEx
    MzAwOTUyMzNaGA8yMTI2MTEwNjA5NTIzM1owEjEQMA4GA1UEAwwHRnV6eiBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJEv
    W0efidQ2KesCkoqrlWDyBLKGM7mzouP+810bM96le/JNjOBiZIRyX93v+ZIVLGwZirVtKlwIVtnkFFGnhdyjYzBhMB0GA1UdDgQW
    BBRKppoXh90hHkzB7h+81REDXaEoeDAfBgNVHSMEGDAWgBRKppoXh90hHkzB7h+81REDXaEoeDAPBgNVHRMBAf8EBTADAQH/MA4G
    A1UdDwEB/wQEAwIBhjAKBggqhkjOPQQDAgNJADBGAiEAzK3Tu1sf+PamrNn7t0A5DHbKK1rRo3MSQRBODJUFMJgCIQDGUrBqfDBE
    asVR2k3XwJXsqqdrSvibN7phyzxROZza4w==
    """
)

private let leaf = decoded(
    """
    MIIBfTCCASSgAwIBAgIBATAKBggqhkjOPQQDAjASMRAwDgYDVQQDDAdGdXp6IENBMCAXDTI2MTEzMDA5NTIzM1oYDzIxMjUwNjI0
    MDk1MjMzWjARMQ8wDQYDVQQDDAZmLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT4sA0gyCQYKAMKn3jX01cEg/y/hnp9
    0Phz8jhp/ZPTmslVmMfHI0tL7RmN9nbVqKcD1VQpsckfdDs+PNuXh9dso2owaDARBgNVHREECjAIggZmLnRlc3QwEwYDVR0lBAww
    CgYIKwYBBQUHAwEwHQYDVR0OBBYEFKvjkXetQ/nGyMOrvmfkWGVkQauBMB8GA1UdIwQYMBaAFEqmmheH3SEeTMHuH7zVEQNdoSh4
    MAoGCCqGSM49BAMCA0cAMEQCIBWQzAJCGlXzoWwYuOwJcVDvU6u9dU3Lb/yjTIt2ULvJAiA/QjUzyYW0HRmuvjGu3f3cCGAf3VUL
    AsONuojx7wNo7A==
    """
)

private let goodResponse = decoded(
    """
    MIIBAAoBAKCB+jCB9wYJKwYBBQUHMAEBBIHpMIHmMIGNoRQwEjEQMA4GA1UEAwwHRnV6eiBDQRgPMjAyNjExMzAwOTUyMzNaMGQw
    YjA6MAkGBSsOAwIaBQAEFMwiaSICC07P/+QBOGbGyItypWDYBBRKppoXh90hHkzB7h+81REDXaEoeAIBAYAAGA8yMDI2MTEzMDA5
    NTIzM1qgERgPMjEyNTA2MjQwOTUyMzNaMAoGCCqGSM49BAMCA0gAMEUCIGpo8PASN+0stR1fOJqAmQVOTNpuQfeoJmQ1PgGooiEX
    AiEA7SSOko1rjqXpQgDEgslkE0o9WtAV2wW6jth3kwr1f7M=
    """
)

private let goodList = decoded(
    """
    MIHNMHQCAQEwCgYIKoZIzj0EAwIwEjEQMA4GA1UEAwwHRnV6eiBDQRcNMjYxMTMwMDk1MjMzWhgPMjEyNTA2MjQwOTUyMzNaoC8w
    LTAfBgNVHSMEGDAWgBRKppoXh90hHkzB7h+81REDXaEoeDAKBgNVHRQEAwIBATAKBggqhkjOPQQDAgNJADBGAiEA/bptQdL2o2yE
    F6cChejscur2MEYfIMrDORE8t4jdiGwCIQCFt+Od7ShlkWvXD/7jp8j2PxTHMloRkL6thcrOsJyu8w==
    """
)
