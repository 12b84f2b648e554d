import ChildProcess
import Foundation
public import SecurityPolicy

/// Every chain of a certificate matrix under every one of its policies, with the verdicts of a reference evaluator.
///
/// The chains are made on the spot by the script that comes with the conformance data, in some seconds.
public final class CertificateMatrix: Sendable {
    /// One chain under one policy.
    public struct Row: Sendable {
        /// The chain's name.
        public var chain: String
        /// The host that is asked for.
        public var host: String
        /// The policy's name.
        public var policyName: String
        /// The policy.
        public var policy: SecurityPolicy
        /// What is expected; nil for a chain whose verdicts the table does not hold.
        public var expected: MatrixVerdict?
    }

    /// The rows of the table, in its order.
    public let rows: [Row]
    /// The chains that the table does not hold, under the policies that it does.
    public let otherRows: [Row]
    private let path: String

    /// Makes a matrix on a thread of its own.
    ///
    /// The script takes seconds, which must not hold one of the few threads that every other test runs on.
    public static func made(of data: String) async throws -> CertificateMatrix {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "certificate matrix").async {
                continuation.resume(with: Result { try CertificateMatrix(data) })
            }
        }
    }

    /// Makes the chains and reads the table; throws where a file is missing or a row cannot be read.
    public init(_ data: String) throws {
        struct Unreadable: Error { let line: Substring }
        let path = NSTemporaryDirectory() + "/certificate-matrix-" + UUID().uuidString
        self.path = path
        try Self.make(path, data + "/certificates/make_matrix.sh")
        let table = try String(contentsOfFile: data + "/certificates/expected.tsv", encoding: .utf8)
        let system = Set(try Certificate.load(contentsOf: path + "/anchors/system.pem"))
        let anchors = TrustAnchors.certificates(system)
        var policies: [(name: String, policy: SecurityPolicy)] = []
        var rows: [Row] = []
        for line in table.split(separator: "\n").dropFirst() {
            let row = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard row.count == 9 else { throw Unreadable(line: line) }
            if !policies.contains(where: { $0.name == row[2] }) {
                policies.append((row[2], try Self.policy(row, path, anchors)))
            }
            guard let policy = policies.first(where: { $0.name == row[2] })?.policy else { continue }
            let expected = MatrixVerdict(row[7] == "ACCEPT", reason: row[8])
            rows.append(
                Row(chain: row[0], host: row[1], policyName: row[2], policy: policy, expected: expected)
            )
        }
        self.rows = rows
        let known = Set(rows.map(\.chain))
        let hosts = try String(contentsOfFile: path + "/hosts.tsv", encoding: .utf8)
        otherRows = hosts.split(separator: "\n").flatMap { line -> [Row] in
            let fields = line.split(separator: "\t").map(String.init)
            guard fields.count == 2, !known.contains(fields[0]) else { return [] }
            return policies.map {
                Row(
                    chain: fields[0],
                    host: fields[1],
                    policyName: $0.name,
                    policy: $0.policy,
                    expected: nil
                )
            }
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// What the policy itself says of a row.
    public func evaluate(_ row: Row) throws -> MatrixVerdict {
        let chain = try Certificate.load(contentsOf: chainFile(row.chain))
        do {
            return MatrixVerdict(
                try row.policy.evaluate(ServerTrust(certificates: chain), forDomain: row.host)
            )
        } catch {
            return MatrixVerdict(error)
        }
    }

    /// The certificates of a chain as sent, PEM.
    public func chainFile(_ chain: String) -> String { "\(path)/chains/\(chain).pem" }

    /// The key of a chain's leaf, PEM.
    public func keyFile(_ chain: String) -> String { "\(path)/chains/\(chain).key" }

    private static func make(_ path: String, _ script: String) throws {
        try ChildProcess.output(of: "bash", [script, path])
    }

    private static func policy(_ row: [String], _ path: String, _ anchors: TrustAnchors) throws
        -> SecurityPolicy
    {
        let pins = try row[6].split(separator: ",").filter { $0 != "-" }.flatMap {
            try Certificate.load(contentsOf: "\(path)/certs/\($0).der")
        }
        let mode: SecurityPolicy.PinningMode =
            switch row[3] {
            case "cert": .certificate
            case "key": .publicKey
            default: .none
            }
        return SecurityPolicy(
            pinningMode: mode,
            pinnedCertificates: Set(pins),
            allowInvalidCertificates: row[4] == "1",
            validatesDomainName: row[5] == "1",
            trustAnchors: anchors
        )
    }
}
