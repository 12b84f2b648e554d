import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct PolicyFileTests {
    private let folder: TemporaryFolder
    private let tree: PrivateTree

    init() throws {
        folder = try TemporaryFolder()
        tree = try PrivateTree()
    }

    private func load(_ text: String) throws -> HostPolicies {
        try HostPolicies.load(contentsOf: folder.write(text, to: "policy.json"))
    }

    private func fault(_ text: String) throws -> PolicyFileError {
        try #require(throws: PolicyFileError.self) { try load(text) }
    }

    @Test func `a file gives each host its policy`() throws {
        let pin = try tree.leaf.leaf.publicKeyPin
        try folder.write(tree.root.certificate.pem, to: "root.pem")
        let hosts = try load(
            """
            {
              "hosts": {
                "api.test": {
                  "pinningMode": "certificate",
                  "pinnedCertificateFiles": ["root.pem"],
                  "allowInvalidCertificates": true
                },
                "**.example.com": {
                  "pinningMode": "publicKey",
                  "pinnedPublicKeys": ["\(pin)"],
                  "pinEnforcement": "audit",
                  "pinExpiration": "2030-01-01T00:00:00Z"
                }
              },
              "allHostsMustBeEvaluated": true
            }
            """
        )
        let own = try #require(hosts.policy(for: "api.test"))
        #expect(own.accepts(try tree.leaf.trust, forDomain: "api.test"))
        #expect(own.pinnedCertificates == [try tree.root.asCertificate])
        let audited = try #require(hosts.policy(for: "a.b.example.com"))
        #expect(audited.pinnedPublicKeys == [pin])
        #expect(audited.pinEnforcement == .audit)
        #expect(audited.pinExpiration == date(2030, 1, 1))
        #expect(hosts.policy(for: "other.test") == nil)
    }

    @Test func `an error tells file, line and key`() throws {
        let error = try fault(
            """
            {
              "hosts": {
                "api.example.com": {
                  "pinningMode": "publicKey",
                  "pinnedPublicKeys": [
                    "sha256/AAAA"
                  ]
                }
              }
            }
            """
        )
        #expect(error.line == 6)
        #expect(error.key == #"hosts."api.example.com".pinnedPublicKeys[0]"#)
        #expect(error.description.hasPrefix(folder.path + "/policy.json:6: hosts."))
        #expect(error.reason.contains("32 bytes"))
    }

    @Test(arguments: [
        ("", 1, "", "ends"), ("{", 1, "", "quotes"), ("{\n\"hosts\": {}\n", 3, "", "comma or }"),
        ("{\"hosts\": {},\n \"hosts\": {}}", 2, "hosts", "twice"), ("{\"hosts\":\n{}} x", 2, "", "behind"),
        (
            "{\"hosts\": {\n\"a.test\": {\"pinningMode\": 0},\n\"A.test\": {\"pinningMode\": 0}}}", 2,
            "hosts.\"a.test\"", "twice"
        ),
        ("{\"hosts\": {\"a.test\":\n {}}}", 2, "hosts.\"a.test\"", "pinningMode is missing"),
        ("{\n\"host\": {}}", 2, "host", "no field"), ("{}", 1, "", "hosts is missing"),
        ("{\"hosts\": {\n\"a:443\": {\"pinningMode\": 0}}}", 2, "hosts.a:443", "pattern"),
        (
            "{\"hosts\": {\"localhost\": {\n\"pinningMode\": 0,\n\"pins\": []}}}", 3, "hosts.localhost.pins",
            "no field"
        ),
        ("{\"hosts\": {\n\"a.test\": {\"pinningMode\": 2}}}", 2, "hosts.\"a.test\"", "no pin that counts"),
        (
            "{\"hosts\": {},\n\"fallback\": {\"pinningMode\": \"publicKey\"}}", 2, "fallback",
            "no pin that counts"
        ),
        (
            "{\"hosts\": {\"a.test\": {\"pinningMode\": 2, \"pinnedCertificateFiles\":\n[\"none.pem\"]}}}", 2,
            "hosts.\"a.test\".pinnedCertificateFiles[0]", "nothing at this path"
        ),
        ("{\"hosts\": {\"a.test\": {\"pinningMode\":\n true}}}", 2, "hosts.\"a.test\".pinningMode", ""),
        ("{\"hosts\": {\"a.test\": {\"pinningMode\": 0,\n \"validatesDomainName\": nope}}}", 2, "", ""),
    ])
    func `a file that cannot be used is refused`(text: String, line: Int, key: String, reason: String) throws
    {
        let error = try fault(text)
        #expect(error.reason.contains(reason) || reason.isEmpty, "\(error)")
        // What only the decoder finds in the syntax has no place.
        if error.line != nil, !key.isEmpty || !reason.isEmpty {
            #expect(error.line == line, "\(error)")
            #expect(error.key == key, "\(error)")
        }
    }

    @Test func `a missing file is named`() throws {
        let path = folder.path + "/none.json"
        let error = #expect(throws: PolicyFileError.self) { try HostPolicies.load(contentsOf: path) }
        #expect(error?.line == nil)
        #expect(error?.description.contains(path) == true)
    }

    @Test func `random damage to a file is an error or a policy, never a crash`() throws {
        let text = Array(
            #"{"hosts": {"a.test": {"pinningMode": 0, "strictness": "webPKI"}}, "fallback": {"pinningMode": 0}}"#
                .utf8
        )
        for position in text.indices {
            for byte in [UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "\\"), 0, 0xFF] {
                var damaged = text
                damaged[position] = byte
                _ = try? HostPolicies.load(contentsOf: folder.write(Data(damaged), to: "policy.json"))
            }
            _ = try? HostPolicies.load(contentsOf: folder.write(Data(text[..<position]), to: "policy.json"))
        }
        let deep = String(repeating: "[", count: 100_000)
        #expect(try fault(deep).reason.contains("deeply"))
    }
}
