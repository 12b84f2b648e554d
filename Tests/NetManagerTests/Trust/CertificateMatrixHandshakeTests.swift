import Conformance
import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import TestPKI
import TestServer
import Testing

@testable import NetManager

/// The certificate matrix again, as real handshakes: every chain presented by a server, every policy that of a request.
///
/// All requests of a version share one transport, so that a connection or a TLS session that crossed policies would
/// show as a wrong verdict. Runs only where the environment variable CONFORMANCE_DATA names the data.
@Suite(.enabled(if: ConformanceData.folder != nil, "CONFORMANCE_DATA is not set"))
struct CertificateMatrixHandshakeTests {
    /// What was counted, and every disagreement in words.
    private struct Tally: Sendable {
        var rows = 0
        var requests = 0
        var differences: [String] = []

        static func + (first: Tally, second: Tally) -> Tally {
            Tally(
                rows: first.rows + second.rows,
                requests: first.requests + second.requests,
                differences: first.differences + second.differences
            )
        }
    }

    @Test func `handshakes judge every chain of the matrix as the table and the evaluation do`() async throws
    {
        let matrix = try await CertificateMatrix.made(of: try #require(ConformanceData.folder))
        for version in PolicyIsolationTests.versions {
            let began = ContinuousClock.now
            let known = try await run(matrix, matrix.rows, version)
            print("certificate matrix by \(version):", known.rows, "rows as in the table,", terminator: " ")
            let other = try await run(matrix, matrix.otherRows, version)
            print(other.rows, "more as in the evaluation,", terminator: " ")
            print("differences:", known.differences.count + other.differences.count, terminator: ", ")
            print("in", ContinuousClock.now - began)
            #expect(known.differences == [])
            #expect(other.differences == [])
            #expect(known.rows > 1000)
            #expect(other.rows > 500)
            #expect(known.requests > 200 && other.requests > 100)
        }
    }

    /// Chains that OpenSSL as a server does not present in TLS 1.2, since their key usage forbids to sign the key
    /// exchange (RFC 8422, section 2.2).
    private static let onlyTLS13: Set = ["ku-bad", "ca-as-leaf"]

    /// Eight chains at a time, each with a server of its own.
    private func run(_ matrix: CertificateMatrix, _ rows: [CertificateMatrix.Row], _ version: TLSVersion)
        async throws -> Tally
    {
        let transport = CurlTransport()
        let chains = Dictionary(grouping: rows, by: \.chain)
            .filter { version == .tls13 || !Self.onlyTLS13.contains($0.key) }
            .values.sorted { $0[0].chain < $1[0].chain }
        return try await withThrowingTaskGroup(of: Tally.self) { group in
            var total = Tally()
            for (number, rows) in chains.enumerated() {
                if number >= 8, let tally = try await group.next() { total = total + tally }
                group.addTask { try await judge(rows, matrix, version, transport) }
            }
            return try await group.reduce(total, +)
        }
    }

    private func judge(
        _ rows: [CertificateMatrix.Row],
        _ matrix: CertificateMatrix,
        _ version: TLSVersion,
        _ transport: CurlTransport
    ) async throws -> Tally {
        var tally = Tally()
        guard let chain = rows.first?.chain else { return tally }
        let identity = try Identity(
            chainPEM: String(contentsOfFile: matrix.chainFile(chain), encoding: .utf8),
            keyPEM: String(contentsOfFile: matrix.keyFile(chain), encoding: .utf8)
        )
        let tls = TLSOptions(identity: identity, minimum: version, maximum: version)
        let server = try TestServer(tls: tls) { _ in .json("{}") }
        for row in rows {
            let expected = try expectation(row, matrix)
            let verdict = try await handshake(row, server, transport)
            tally.rows += 1
            tally.requests += expected.isAccepted ? 1 : 0
            if verdict != "\(expected)" {
                tally.differences.append(
                    "\(chain) \(row.policyName) \(version): \(verdict), expected \(expected)"
                )
            }
        }
        // Whoever was refused has sent nothing.
        if server.counters.requests != tally.requests {
            tally.differences.append("\(chain): \(server.counters.requests) requests for \(tally.requests)")
        }
        return tally
    }

    /// What a request must end in: as the table says, or the evaluation for what it does not hold.
    ///
    /// A policy that can accept nobody is told before there is a connection, and so before the chain is looked at.
    private func expectation(_ row: CertificateMatrix.Row, _ matrix: CertificateMatrix) throws
        -> MatrixVerdict
    {
        if let expected = row.expected { return expected }
        do throws(TrustError) {
            try row.policy.checkConfiguration()
        } catch {
            return MatrixVerdict(error)
        }
        return try matrix.evaluate(row)
    }

    /// Asks a server through a manager and answers the verdict in the table's words.
    private func handshake(
        _ row: CertificateMatrix.Row,
        _ server: TestServer,
        _ transport: CurlTransport
    ) async throws -> String {
        let recorder = MetricsRecorder()
        let manager = HTTPSessionManager(
            .init(securityPolicy: row.policy),
            transport: Redirected(base: transport, host: row.host, port: server.port, recorder: recorder)
        )
        do {
            _ = try await manager.get("https://\(row.host):\(server.port)/")
        } catch let error as RequestError {
            guard case .untrustedServer(let reason) = error.kind else { return "\(error)" }
            return "\(MatrixVerdict(reason))"
        }
        guard let decision = recorder.metrics.first?.trust else { return "accepted without a decision" }
        return "\(MatrixVerdict(decision))"
    }
}

/// Sends requests for a host of a certificate to this machine, and records the verdicts.
private struct Redirected: Transport {
    let base: CurlTransport
    let host: String
    let port: Int
    let recorder: MetricsRecorder

    func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse {
        var context = context
        context.metrics = recorder
        context.connection.overrides = [.init(host: host, toHost: "127.0.0.1", toPort: port)]
        return try await base.send(request, context: context)
    }
}
