import Conformance
import Foundation
import SecurityPolicy
import Testing

/// The server cases of x509-limbo, each under both strictnesses.
///
/// Every deviation is listed in `LimboDeviations` and, with its reason, in docs/conformance.md.
@Suite(.enabled(if: ConformanceData.folder != nil, "CONFORMANCE_DATA is not set"))
struct LimboTests {
    private struct Suite: Decodable { let testcases: [Case] }

    private struct Case: Decodable {
        struct Name: Decodable { let value: String }

        let id: String
        let kind: String
        let anchors: [String]
        let intermediates: [String]
        let leaf: String
        let time: String?
        let expected: String
        let name: Name?
        let depth: Int?
        let lists: [String]

        enum CodingKeys: String, CodingKey {
            case id
            case kind = "validation_kind"
            case anchors = "trusted_certs"
            case intermediates = "untrusted_intermediates"
            case leaf = "peer_certificate"
            case time = "validation_time"
            case expected = "expected_result"
            case name = "expected_peer_name"
            case depth = "max_chain_depth"
            case lists = "crls"
        }

        var group: String { id.components(separatedBy: "::").first ?? id }
        var shouldPass: Bool { expected == "SUCCESS" }

        /// Whether a policy of this strictness accepts; a certificate that cannot be parsed is a refusal.
        func isAccepted(_ strictness: SecurityPolicy.Strictness) throws -> Bool {
            guard let trusted = try? anchors.flatMap({ try Certificate.certificates(in: Data($0.utf8)) }),
                let sent = try? ([leaf] + intermediates).flatMap({
                    try Certificate.certificates(in: Data($0.utf8))
                })
            else { return false }
            let policy = SecurityPolicy(
                validatesDomainName: name != nil,
                trustAnchors: .certificates(Set(trusted)),
                verificationDate: try time.map { try #require(Case.date($0)) },
                strictness: strictness,
                maximumIntermediates: depth ?? 8,
                revocationLists: Set(try lists.flatMap { try RevocationList.lists(in: Data($0.utf8)) })
            )
            return policy.accepts(ServerTrust(certificates: sent), forDomain: name?.value)
        }

        private static func date(_ text: String) -> Date? {
            let text = text.replacingOccurrences(of: "+00:00", with: "Z")
            let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            return (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: fractional))
        }
    }

    @Test func `the server cases of x509-limbo deviate where docs/conformance.md says`() throws {
        let path = try #require(ConformanceData.folder) + "/limbo/limbo.json"
        let suite = try JSONDecoder().decode(Suite.self, from: Data(contentsOf: URL(filePath: path)))
        let cases = suite.testcases.filter { $0.kind == "SERVER" }
        var found = LimboDeviations()
        var groups: [String: (cases: Int, standard: Int, either: Int)] = [:]
        for test in cases {
            let standard = try test.isAccepted(.standard)
            let strict = try test.isAccepted(.webPKI)
            // What the strict policy accepts, the standard one accepts.
            #expect(standard || !strict, "\(test.id)")
            switch (test.shouldPass, standard, strict) {
            case (true, false, _): found.refused.insert(test.id)
            case (true, true, false): found.refusedByWebPKI.insert(test.id)
            case (false, true, false): found.refusedOnlyByWebPKI.insert(test.id)
            case (false, true, true): found.accepted.insert(test.id)
            default: break
            }
            var row = groups[test.group] ?? (0, 0, 0)
            row.cases += 1
            row.standard += standard == test.shouldPass ? 1 : 0
            row.either += (test.shouldPass ? standard : !strict) ? 1 : 0
            groups[test.group] = row
        }
        print("| x509-limbo group | cases | as expected, standard | as expected, webPKI for refusals |")
        for (group, row) in groups.sorted(by: { $0.key < $1.key }) {
            print("| \(group) | \(row.cases) | \(row.standard) | \(row.either) |")
        }
        let sums = groups.values.reduce((0, 0, 0)) { ($0.0 + $1.cases, $0.1 + $1.standard, $0.2 + $1.either) }
        print("| all | \(sums.0) | \(sums.1) | \(sums.2) |")
        #expect(cases.count == 279)
        let kept = LimboDeviations.kept
        #expect(found.refused.symmetricDifference(kept.refused).sorted() == [])
        #expect(found.accepted.symmetricDifference(kept.accepted).sorted() == [])
        #expect(found.refusedOnlyByWebPKI.symmetricDifference(kept.refusedOnlyByWebPKI).sorted() == [])
        #expect(found.refusedByWebPKI.symmetricDifference(kept.refusedByWebPKI).sorted() == [])
    }
}
