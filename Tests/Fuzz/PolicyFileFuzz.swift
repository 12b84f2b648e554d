// module: SecurityPolicy
//
// Any bytes as a policy file, and a good one with some bytes changed: reading it must end without a crash, an error must
// name its line, and what was read must be written and read again as the same.

import FoundationEssentials
import SecurityPolicy

/// The file that is read, in memory where the system has such a folder.
private let path: String = {
    let folder = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    return "\(folder)/PolicyFileFuzz-\(ProcessInfo.processInfo.processIdentifier).json"
}()

/// One file under test; zero, as libFuzzer wants it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPolicyFile(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let bytes = first % 2 == 0 ? Array(input.dropFirst()) : changed(good, by: input.dropFirst())
    // What stands there may name any file of the machine, and those are none of the test's.
    guard bytes.firstRange(of: Array("pinnedCertificateFiles".utf8)) == nil,
        FileManager.default.createFile(atPath: path, contents: Data(bytes))
    else { return 0 }
    do {
        let policies = try HostPolicies.load(contentsOf: path)
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let data = try encoder.encode(policies)
        precondition(FileManager.default.createFile(atPath: path, contents: data))
        // Fractions of a second are no part of an ISO 8601 date here.
        let again = try HostPolicies.load(contentsOf: path)
        let rewritten = try encoder.encode(again)
        precondition(again.policies.keys == policies.policies.keys, "the hosts change when they are written")
        precondition(rewritten.count == data.count, "the file changes when it is written")
        _ = policies.policy(for: "api.example.com")
        _ = policies.warnings
    } catch let error as PolicyFileError {
        let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
        precondition(
            error.line.map { (1...lines).contains($0) } ?? true,
            "the line \(error.line ?? 0) is none"
        )
        precondition(!error.description.isEmpty)
    } catch {
        preconditionFailure("what was read cannot be written: \(error)")
    }
    return 0
}

private let good = Array(
    """
    {
      "hosts": {
        "api.example.com": {
          "pinningMode": "publicKey",
          "pinnedPublicKeys": [
            "sha256/4a6cPehI7OG6cuDZka5NDZ7FR8a60d3auda+sKfg4Ng=",
            "sha256/uUwZgwDOxcBXrQcntwu+kYFpkiVkOaezL0WYEZ3anJc="
          ],
          "pinExpiration": "2030-01-01T00:00:00Z", "stapledOCSP": "ifPresent", "strictness": "webPKI"
        },
        "**.internal.example": {
          "pinningMode": 2, "allowInvalidCertificates": true, "validatesDomainName": false,
          "pinnedCertificates": [
            "MIIB4TCCAYegAwIBAgIUCEJJPyAytuG49Q2p5MNDAnZtApIwCgYIKoZIzj0EAwIwETEPMA0GA1UEAwwGZi50ZXN0MC\
            AXDTI2MTEzMDA5MTY0NVoYDzIxMjYxMTA2MDkxNjQ1WjARMQ8wDQYDVQQDDAZmLnRlc3QwWTATBgcqhkjOPQIBBggq\
            hkjOPQMBBwNCAASyFKZ3D5lexjGKwliU7mZ7sxzC60sXgjvNE6P8T1NNSYg/1PEOtybfxgBdCiTWPRKtk72yad6fLe\
            IA7+OiRVoKo4G6MIG3MBIGA1UdEwEB/wQIMAYBAf8CAQEwDgYDVR0PAQH/BAQDAgKEMBMGA1UdJQQMMAoGCCsGAQUF\
            BwMBMDgGA1UdEQQxMC+CBmYudGVzdIcEwAACAYcQIAENuAAAAAAAAAAAAAAAAYYNaHR0cDovL2YudGVzdDAjBgNVHR\
            4EHDAaoAowCIIGZi50ZXN0oQwwCocICgAAAP8AAAAwHQYDVR0OBBYEFGoGP3HNWOfRpSghE2P1uNrqnZLWMAoGCCqG\
            SM49BAMCA0gAMEUCIGIWzhN0P1VZrjrdPktlMDmxyypcTavox11ONceRPIZhAiEAuNknl/hEfki2TDMAIKYp70xWvU\
            TxVGtSFEAwRRO4Xyc="
          ], "maximumIntermediates": 3
        }
      },
      "fallback": { "pinningMode": "none", "trustAnchors": { "system": true, "certificates": [] } },
      "allHostsMustBeEvaluated": false
    }
    """.utf8
)
