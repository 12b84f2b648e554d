import Foundation
import SecurityPolicy
import Testing

/// Every chain of the certificate matrix under every policy, against the verdicts of a reference evaluator.
///
/// Runs only where the conformance data is: the folder that the environment variable CONFORMANCE_DATA names.
@Suite(.enabled(if: ConformanceData.folder != nil, "CONFORMANCE_DATA is not set"))
struct CertificateMatrixTests {
    @Test func `every chain of the matrix is judged as the table of expected verdicts says`() throws {
        let data = try #require(ConformanceData.folder)
        let matrix = try TemporaryFolder()
        try runTool("/usr/bin/env", ["bash", data + "/certificates/make_matrix.sh", matrix.path + "/m"])
        let table = try String(contentsOfFile: data + "/certificates/expected.tsv", encoding: .utf8)
        let system = Set(try Certificate.load(contentsOf: matrix.path + "/m/anchors/system.pem"))
        let anchors = TrustAnchors.certificates(system)

        var counts: [String: Int] = [:]
        var differences: [String] = []
        for line in table.split(separator: "\n").dropFirst() {
            let row = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            try #require(row.count == 9)
            let pins = try row[6].split(separator: ",").filter { $0 != "-" }.flatMap {
                try Certificate.load(contentsOf: "\(matrix.path)/m/certs/\($0).der")
            }
            let mode: SecurityPolicy.PinningMode =
                switch row[3] {
                case "cert": .certificate
                case "key": .publicKey
                default: .none
                }
            let policy = SecurityPolicy(
                pinningMode: mode,
                pinnedCertificates: Set(pins),
                allowInvalidCertificates: row[4] == "1",
                validatesDomainName: row[5] == "1",
                trustAnchors: anchors
            )
            let chain = try Certificate.load(contentsOf: "\(matrix.path)/m/chains/\(row[0]).pem")
            let verdict = judge(policy, ServerTrust(certificates: chain), host: row[1])
            let expected = Verdict(row[7] == "ACCEPT", reason: row[8])
            counts[expected.accepted ? "accepted" : "rejected", default: 0] += 1
            if verdict != expected {
                differences.append("\(row[0]) \(row[2]): \(verdict), expected \(expected)")
            }
        }
        print(
            "certificate matrix:",
            counts.values.reduce(0, +),
            "rows,",
            counts,
            "differences:",
            differences.count
        )
        #expect(differences == [])
        #expect(counts.values.reduce(0, +) > 1000)
    }

    private struct Verdict: Equatable, CustomStringConvertible {
        var accepted: Bool
        var reason: String

        /// Keeps the word before the first parenthesis, and the number behind `untrusted`.
        init(_ accepted: Bool, reason: String) {
            self.accepted = accepted
            let parts = reason.split(separator: "(", maxSplits: 1)
            var word = String(parts.first ?? "")
            if word == "untrusted", parts.count == 2 { word += " " + parts[1].prefix { $0.isNumber } }
            self.reason = word
        }

        var description: String { "\(accepted ? "ACCEPT" : "REJECT") \(reason)" }
    }

    private func judge(_ policy: SecurityPolicy, _ trust: ServerTrust, host: String) -> Verdict {
        do {
            let decision = try policy.evaluate(trust, forDomain: host)
            return Verdict(true, reason: decision.basis == .systemTrust ? "trusted" : "\(decision.basis)")
        } catch {
            switch error {
            case .untrusted(let code, _): return Verdict(false, reason: "untrusted(\(code)")
            default:
                return Verdict(
                    false,
                    reason: "\(Mirror(reflecting: error).children.first?.label ?? error.word)"
                )
            }
        }
    }
}

extension TrustError {
    /// The name of a case without values.
    fileprivate var word: String {
        switch self {
        case .noCertificate: "noCertificate"
        case .chainTooLarge: "chainTooLarge"
        case .noPinsConfigured: "noPinsConfigured"
        case .domainValidationNeedsPinsOrTrust: "domainValidationNeedsPinsOrTrust"
        case .domainRequired: "domainRequired"
        default: "?"
        }
    }
}
