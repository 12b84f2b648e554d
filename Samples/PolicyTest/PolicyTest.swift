// Shows: testing a security policy like any other value, without a server, a socket or libcurl. In a project of
// your own these lines stand in @Test functions, and the certificates are files of your repository.
import FoundationEssentials
import Glibc
import SecurityPolicy
import TestPKI

@main
struct PolicyTest {
    static func main() throws {
        let root = try Authority(commonName: "Policy Root")
        let options = CertificateOptions.server("api.example.com").with {
            $0.subject.commonName = "api.example.com"
        }
        let leaf = try root.issue(options)
        let expired = try root.issue(options.with { $0.validity = .expired })
        let other = try Authority(commonName: "Policy Root").issue(options)

        let policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try Certificate(der: root.certificate.der)],
            allowInvalidCertificates: true
        )
        try expect(policy, leaf, "api.example.com", "our own", isTrusted: true)
        try expect(policy, leaf, "www.example.com", "another name", isTrusted: false)
        try expect(policy, expired, "api.example.com", "expired", isTrusted: false)
        try expect(policy, other, "api.example.com", "another root of the same name", isTrusted: false)
        try expect(
            policy,
            leaf.sending([root.certificate]),
            "api.example.com",
            "with its root",
            isTrusted: true
        )

        // The day after tomorrow is testable too: the time is a part of the policy.
        var future = policy
        future.verificationDate = Date.now.addingTimeInterval(400 * 86_400)
        try expect(future, leaf, "api.example.com", "in 400 days", isTrusted: false)

        // A policy is a file as well, and a file with a lost pin is an error.
        let text = #"{"hosts": {"api.example.com": {"pinningMode": "publicKey"}}}"#
        let path = FileManager.default.temporaryDirectory.path + "/policy-\(getpid()).json"
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { unlink(path) }
        do {
            _ = try HostPolicies.load(contentsOf: path)
            exit(1)
        } catch {
            print("a policy file without pins: \(error.key), line \(error.line ?? 0)")
        }
    }

    static func expect(
        _ policy: SecurityPolicy,
        _ identity: Identity,
        _ host: String,
        _ what: String,
        isTrusted: Bool
    ) throws {
        let chain = try identity.chainDER.map { try Certificate(der: $0) }
        do {
            let decision = try policy.evaluate(ServerTrust(certificates: chain), forDomain: host)
            print("\(what): trusted, \(decision.basis)")
            if !isTrusted { exit(1) }
        } catch {
            print("\(what): refused, \(error)")
            if isTrusted { exit(1) }
        }
    }
}
