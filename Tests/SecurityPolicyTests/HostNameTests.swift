import Foundation
import SecurityPolicy
import TestPKI
import Testing

@Suite struct HostNameTests {
    @Test(arguments: [
        ("api.test", "api.test"), ("API.Test", "api.test"), ("api.test.", "api.test"),
        ("localhost", "localhost"),
        ("a_b.test", "a_b.test"), ("xn--bcher-kva.test", "xn--bcher-kva.test"), ("1.2.3.x4", "1.2.3.x4"),
        ("3com.test", "3com.test"),
        (String(repeating: "a", count: 63) + ".test", String(repeating: "a", count: 63) + ".test"),
    ])
    func `a DNS name is lower case and without its trailing dot`(host: String, name: String) {
        #expect(HostName(host) == .dns(name))
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("[::1]", "::1"), ("::1", "::1"), ("[2001:DB8:0:0::1]", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"), ("[fe80::1%25eth0]", "fe80::1"),
        ("::ffff:127.0.0.1", "::ffff:127.0.0.1"),
    ])
    func `an address is an address`(host: String, address: String) throws {
        let name = try #require(HostName(host))
        guard case .address = name else {
            Issue.record("\(name) is no address")
            return
        }
        #expect(name.text == address)
    }

    @Test(arguments: [
        "", ".", "..", ".api.test", "api..test", "api.test..", "-api.test", "api-.test", "*.api.test",
        "a b.test",
        "api.test\0.evil.test", "api%2etest", "127.1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "127.0.0.1.",
        "01.2.3.4",
        "bücher.test", "api.test:443", "user@api.test", "[api.test]", "[]", "[::1", "::1]", ":::", "fe80::1%",
        "a.999", "0x7f000001", "127.0.0.0x1", "0X7F.1", "a.0x", String(repeating: "a", count: 64) + ".test",
        String(repeating: "abcdefg.", count: 32) + "test",
        " api.test", "api.test\n",
    ])
    func `anything else is refused`(host: String) throws {
        #expect(HostName(host) == nil)
        let tree = try PrivateTree()
        #expect(try tree.policy().refusal(tree.leaf.trust, host) == .domainInvalid(host))
    }

    private func accepts(_ host: String, _ names: [AlternativeName], commonName: String? = nil) throws -> Bool
    {
        let leaf = try Identity.selfSigned(.server(names).with { $0.subject.commonName = commonName })
        let policy = SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: [try leaf.leaf],
            allowInvalidCertificates: true,
            trustAnchors: .certificates([])
        )
        return policy.accepts(try leaf.trust, forDomain: host)
    }

    @Test(arguments: [
        ("api.pin.test", "api.pin.test"), ("api.pin.test.", "api.pin.test"), ("api.pin.test", "API.PIN.TEST"),
        ("api.pin.test", "*.pin.test"), ("xn--bcher-kva.pin.test", "*.pin.test"),
        ("xn--bcher-kva.pin.test", "xn--bcher-kva.pin.test"), ("localhost", "localhost"),
    ])
    func `a name matches`(host: String, name: String) throws {
        #expect(try accepts(host, [.dns(name)]))
        #expect(try accepts(host, [.dns("other.test"), .dns(name)]))
    }

    @Test(arguments: [
        ("api.pin.test", "api.pin.test."), ("api.pin.test", "pin.test"), ("pin.test", "*.pin.test"),
        ("a.b.pin.test", "*.pin.test"), ("api.pin.test", "a*.pin.test"), ("api.pin.test", "*i.pin.test"),
        ("api.pin.test", "api.*.test"), ("pin.test", "*.test"), ("localhost", "*"),
        ("api.pin.test", "*.*.test"),
        ("api.pin.test", ".pin.test"), ("api.pin.test", "api.pin.test\0.evil.test"),
        ("xn--bcher-kva.pin.test", "bücher.pin.test"), ("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "*.0.0.1"),
        ("api.pin.test", "api_pin.test"), ("evilapi.pin.test", "api.pin.test"),
    ])
    func `a name does not match`(host: String, name: String) throws {
        #expect(try !accepts(host, [.dns(name)]))
    }

    @Test func `an address matches its own bytes only`() throws {
        #expect(try accepts("127.0.0.1", [.ip("127.0.0.1")]))
        #expect(try accepts("[::1]", [.ip("::1")]))
        #expect(try accepts("::1", [.ip("::1"), .dns("api.test")]))
        #expect(try !accepts("127.0.0.2", [.ip("127.0.0.1")]))
        #expect(try !accepts("127.0.0.1", [.ip("::ffff:127.0.0.1")]))
        #expect(try !accepts("::ffff:127.0.0.1", [.ip("127.0.0.1")]))
        #expect(try !accepts("127.0.0.1", [.uri("https://127.0.0.1"), .email("a@127.0.0.1")]))
    }

    @Test func `a common name never counts`() throws {
        #expect(try !accepts("api.test", [], commonName: "api.test"))
        #expect(try !accepts("api.test", [.email("a@api.test")], commonName: "api.test"))
        #expect(try !accepts("api.test", [.dns("other.test")], commonName: "api.test"))
        #expect(try !accepts("127.0.0.1", [], commonName: "127.0.0.1"))
    }
}
