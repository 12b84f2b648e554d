import Conformance
import SecurityPolicy
import Testing

/// Every chain of the certificate matrix under every policy, against the verdicts of a reference evaluator.
///
/// Runs only where the conformance data is: the folder that the environment variable CONFORMANCE_DATA names.
@Suite(.enabled(if: ConformanceData.folder != nil, "CONFORMANCE_DATA is not set"))
struct CertificateMatrixTests {
    @Test func `every chain of the matrix is judged as the table of expected verdicts says`() async throws {
        let matrix = try await CertificateMatrix.made(of: try #require(ConformanceData.folder))
        var counts: [String: Int] = [:]
        var differences: [String] = []
        for row in matrix.rows {
            let expected = try #require(row.expected)
            let verdict = try matrix.evaluate(row)
            counts[expected.isAccepted ? "accepted" : "rejected", default: 0] += 1
            if verdict != expected {
                differences.append("\(row.chain) \(row.policyName): \(verdict), expected \(expected)")
            }
        }
        let total = counts.values.reduce(0, +)
        print("certificate matrix:", total, "rows,", counts, "differences:", differences.count)
        #expect(differences == [])
        #expect(total > 1000)
    }
}
