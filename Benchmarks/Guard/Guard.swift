import AllocationCounter
import BenchmarkSupport
import FoundationEssentials
import HTTPMessage
import NetManager
import SecurityPolicy
import TestPKI

/// Counts what fixed pieces of work ask of the allocator: a figure that does not depend on the machine or on who else
/// uses it, and that grows when somebody makes a request take more steps.
///
/// `BenchmarkGuard URL` prints a line `NAME COUNT` for each, the count being that of one request or evaluation.
@main
struct Guard {
    private static let requests = 4000
    private static let evaluations = 400

    static func main() async throws {
        guard CommandLine.arguments.count == 2 else { throw Failure("usage: BenchmarkGuard URL") }
        let url = CommandLine.arguments[1]
        guard await allocations({ _ = [UInt8](repeating: 1, count: 5000) }) > 0 else {
            throw Failure("the allocator cannot be watched here")
        }
        let manager = HTTPSessionManager()
        try await report("get-await", per: requests) { count in
            try await check(runLanes(count, inFlight: 1) { await isGood(manager, url) })
        }
        try await report("get-closure-16", per: requests) { count in
            try await check(
                runClosures(count, inFlight: 16) { done in
                    manager.get(
                        url,
                        as: .data,
                        success: { _, data in done(!data.isEmpty) },
                        failure: { _, _ in done(false) }
                    )
                }
            )
        }
        let (policy, trust) = try pinnedChain()
        try await report("evaluate-pinned", per: evaluations) { count in
            for _ in 0..<count { try policy.evaluate(trust, forDomain: "host.example") }
        }
    }

    private static func isGood(_ manager: HTTPSessionManager, _ url: String) async -> Bool {
        (try? await manager.get(url, as: .data))?.isEmpty == false
    }

    private static func check(_ errors: Int) throws {
        guard errors == 0 else { throw Failure("\(errors) requests failed") }
    }

    /// A server's chain of two below a root that is both anchor and pin.
    private static func pinnedChain() throws -> (SecurityPolicy, ServerTrust) {
        let root = try Authority()
        let identity = try root.intermediate().issue(.server("host.example"))
        let anchors = Set(try [Certificate(der: Data(root.certificate.der))])
        let policy = SecurityPolicy(
            pinningMode: .publicKey,
            pinnedCertificates: anchors,
            trustAnchors: .certificates(anchors)
        )
        return (policy, try ServerTrust(derCertificates: identity.chainDER.map { [UInt8]($0) }))
    }

    /// Does the work once to warm up, then counts.
    private static func report(_ name: String, per count: Int, _ work: @Sendable (Int) async throws -> Void)
        async throws
    {
        try await work(count / 4)
        let all = try await allocations { try await work(count) }
        print(name, Measurement.text(Double(all) / Double(count), decimals: 1))
    }

    private static func allocations(_ work: @Sendable () async throws -> Void) async rethrows -> UInt {
        let before = allocation_count()
        try await work()
        return allocation_count() - before
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }
}
