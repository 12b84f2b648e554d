import Foundation
import SecurityPolicy
import Testing

@Suite struct HostPoliciesTests {
    @Test(arguments: [
        ("api.example.com", "api.example.com"), ("API.example.com", "api.EXAMPLE.com."),
        ("*.example.com", "a.example.com"),
        ("**.example.com", "a.example.com"), ("**.example.com", "a.b.example.com"),
        ("**.example.com", "example.com"),
        ("192.0.2.1", "192.0.2.1"), ("::1", "[::1]"), ("192.0.2.1", "[::ffff:192.0.2.1]"),
        ("192.0.2.1", "[::FFFF:C000:201]"), ("::ffff:192.0.2.1", "192.0.2.1"),
    ])
    func `a pattern covers a host`(pattern: String, host: String) throws {
        #expect(try #require(HostPattern(pattern)).matches(host))
    }

    @Test(arguments: [
        ("api.example.com", "a.api.example.com"), ("*.example.com", "example.com"),
        ("*.example.com", "a.b.example.com"),
        ("*.example.com", "aexample.com"), ("**.example.com", "badexample.com"),
        ("**.example.com", "example.com.evil.test"),
        ("192.0.2.1", "192.0.2.10"), ("**.example.com", "not a host"), ("192.0.2.1", "[::192.0.2.1]"),
        ("192.0.2.1", "[::ffff:192.0.2.10]"),
    ])
    func `a pattern does not cover a host`(pattern: String, host: String) throws {
        #expect(try !#require(HostPattern(pattern)).matches(host))
    }

    @Test(arguments: [
        "", "*", "**", "*.", "a.*.com", "*a.com", "***.com", "*.*.com", "*.192.0.2.1", "a:443", "http://a",
    ])
    func `anything else is no pattern`(text: String) {
        #expect(HostPattern(text) == nil)
    }

    private func marked(_ limit: Int) -> SecurityPolicy { SecurityPolicy(maximumIntermediates: limit) }

    @Test func `the best pattern decides`() throws {
        let patterns = [
            "api.example.com": 1, "*.example.com": 2, "**.example.com": 3, "**.b.example.com": 4,
            "*.b.example.com": 5,
        ]
        var policies: [HostPattern: SecurityPolicy] = [:]
        for (text, limit) in patterns { policies[try #require(HostPattern(text))] = marked(limit) }
        let hosts = HostPolicies(policies, fallback: marked(0))
        func chosen(_ host: String) -> Int? { hosts.policy(for: host)?.maximumIntermediates }
        #expect(chosen("api.example.com") == 1)
        #expect(chosen("www.example.com") == 2)
        #expect(chosen("example.com") == 3)
        #expect(chosen("a.c.example.com") == 3)
        #expect(chosen("a.b.example.com") == 5)
        #expect(chosen("a.a.b.example.com") == 4)
        #expect(chosen("b.example.com") == 4)
        #expect(chosen("other.test") == 0)
        #expect(chosen("not a host") == nil)
    }

    @Test func `a host without a pattern is refused if all hosts must be evaluated`() throws {
        let pattern = try #require(HostPattern("*.example.com"))
        let hosts = HostPolicies([pattern: .default], allHostsMustBeEvaluated: true)
        #expect(hosts.policy(for: "a.example.com") == .default)
        #expect(hosts.policy(for: "example.com") == nil)
        #expect(HostPolicies().policy(for: "example.com") == .default)
    }

    @Test func `policies survive encoding, and what cannot be read is refused`() throws {
        let pattern = try #require(HostPattern("**.example.com"))
        let hosts = HostPolicies([pattern: marked(2)], fallback: marked(3), allHostsMustBeEvaluated: true)
        #expect(try JSONDecoder().decode(HostPolicies.self, from: JSONEncoder().encode(hosts)) == hosts)
        for json in [
            "{}", #"{"hosts": {"a b": {"pinningMode": 0}}}"#, #"{"hosts": {}, "default": {}}"#,
            #"{"hosts": {"a.test": {}}}"#,
            #"{"hosts": {"a.test": {"pinningMode": 0}, "A.test": {"pinningMode": 0}}}"#,
        ] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(HostPolicies.self, from: Data(json.utf8))
            }
        }
        let short = try JSONDecoder().decode(HostPolicies.self, from: Data(#"{"hosts": {}}"#.utf8))
        #expect(short == HostPolicies())
    }
}
