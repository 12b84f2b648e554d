import AllocationCounter
import BenchmarkSupport
import Dispatch
import FoundationEssentials
import Glibc
import HTTPMessage
import NetManager

/// Does fixed pieces of work, so that what they ask of the allocator and how many instructions they take can be counted:
/// figures that do not depend on the machine or on who else uses it, and that grow when somebody makes a request take
/// more steps.
///
/// `BenchmarkGuard URL` prints a line `NAME COUNT` for each piece, the allocations of one request or evaluation.
/// `BenchmarkGuard URL NAME TIMES` does one piece so often and prints nothing; whoever runs it counts.
@main
struct Guard {
    private enum Work: String, CaseIterable {
        case getAwait = "get-await"
        case getClosure = "get-closure-16"
        case evaluatePinned = "evaluate-pinned"

        /// How often it is done while allocations are counted.
        var times: Int { self == .evaluatePinned ? 400 : 4000 }
    }

    private let url: String
    private let manager = HTTPSessionManager()
    private let chain: PinnedChain

    /// The main thread waits by itself: what an async main does in its place, valgrind 3.19 does not survive.
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await run(arguments)
            } catch {
                print("BenchmarkGuard: \(error)")
                exit(1)
            }
            isDone.signal()
        }
        isDone.wait()
    }

    private static func run(_ arguments: [String]) async throws {
        switch arguments.count {
        case 1:
            guard await allocations({ _ = [UInt8](repeating: 1, count: 5000) }) > 0 else {
                throw Failure("the allocator cannot be watched here")
            }
            let guardian = try Guard(url: arguments[0])
            for work in Work.allCases {
                // Once to warm up.
                try await guardian.perform(work, times: work.times / 4)
                let all = try await allocations { try await guardian.perform(work, times: work.times) }
                print(work.rawValue, Measurement.text(Double(all) / Double(work.times), decimals: 1))
            }
        case 3:
            guard let work = Work(rawValue: arguments[1]), let times = Int(arguments[2]), times > 0 else {
                throw Failure("knows no '\(arguments[1])', or \(arguments[2]) is no number")
            }
            try await Guard(url: arguments[0]).perform(work, times: times)
        default: throw Failure("usage: BenchmarkGuard URL [NAME TIMES]")
        }
    }

    private init(url: String) throws {
        self.url = url
        chain = try PinnedChain()
    }

    private func perform(_ work: Work, times: Int) async throws {
        let (manager, url) = (manager, url)
        var errors = 0
        switch work {
        case .getAwait:
            errors = await runLanes(times, inFlight: 1) {
                (try? await manager.get(url, as: .data))?.isEmpty == false
            }
        case .getClosure:
            errors = await runClosures(times, inFlight: 16) { done in
                manager.get(
                    url,
                    as: .data,
                    success: { _, data in done(!data.isEmpty) },
                    failure: { _, _ in done(false) }
                )
            }
        case .evaluatePinned:
            for _ in 0..<times { try chain.policy.evaluate(chain.trust, forDomain: "host.example") }
        }
        guard errors == 0 else { throw Failure("\(errors) requests failed") }
    }

    private static func allocations(_ work: () async throws -> Void) async rethrows -> UInt {
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
