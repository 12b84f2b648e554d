// Shows: judging certificate files with a security policy, without any HTTP. The program loads no libcurl.
//
//   PolicyOnly                                                     judges a certificate that it makes
//   PolicyOnly LEAF [INTERMEDIATE …] [--pin FILE] … [--host NAME]
//
// The files are what a server would send, the leaf first; DER and PEM will do. With --pin the certificates in FILE
// are the only ones that count, otherwise the system's authorities. With --host the leaf must be for that name.
// The exit status is 0 for trusted, 1 for refused, 2 for a mistake on the command line.
import FoundationEssentials
import Glibc
import SecurityPolicy
import TestPKI

@main
struct PolicyOnly {
    static func main() {
        do {
            let arguments = CommandLine.arguments.dropFirst()
            exit(try (arguments.isEmpty ? judgeOwn() : judge(arguments)) ? 0 : 1)
        } catch {
            print(error)
            print("usage: PolicyOnly LEAF [INTERMEDIATE …] [--pin FILE] … [--host NAME]")
            exit(2)
        }
    }

    static func judge(_ arguments: ArraySlice<String>) throws -> Bool {
        var policy = SecurityPolicy(validatesDomainName: false)
        var chain: [Certificate] = []
        var host: String?

        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--host":
                host = try value(of: argument, in: &rest)
                policy.validatesDomainName = true
            case "--pin":
                policy.pinnedCertificates.formUnion(
                    try Certificate.load(contentsOf: value(of: argument, in: &rest))
                )
                policy.pinningMode = .certificate
                policy.allowInvalidCertificates = true
            default:
                chain += try Certificate.load(contentsOf: argument)
            }
        }
        guard let leaf = chain.first else { throw Mistake(description: "No certificate file was named.") }

        print("certificate  \(leaf.subject)")
        print("names        \((leaf.dnsNames + leaf.ipAddresses).joined(separator: ", "))")
        print("valid until  \(leaf.notAfter.formatted(.iso8601))")
        print("key          \(leaf.publicKeyPin)")
        do {
            let decision = try policy.evaluate(ServerTrust(certificates: chain), forDomain: host)
            print("trusted      \(decision.basis), by way of \(decision.path.map(\.subject))")
            return true
        } catch {
            print("refused      \(error)")
            return false
        }
    }

    static func judgeOwn() throws -> Bool {
        let path = FileManager.default.temporaryDirectory.path + "/PolicyOnly-\(getpid()).pem"
        defer { unlink(path) }
        let options = CertificateOptions.server("localhost").with { $0.subject.commonName = "PolicyOnly" }
        try Data(try Identity.selfSigned(options).certificatePEM.utf8).write(to: URL(filePath: path))
        return try judge([path, "--pin", path, "--host", "localhost"])
    }

    static func value(of option: String, in rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw Mistake(description: "\(option) needs a value.") }
        return value
    }

    struct Mistake: Error, CustomStringConvertible { var description: String }
}
