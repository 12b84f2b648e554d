import Dispatch
import Glibc
import NetManager
import Synchronization

/// Forks while the engine's thread runs.
enum ForkProbe {
    /// The exit handler gives each thread two seconds to end; nothing may wait for one that is not there.
    private static let tooLong = Duration.seconds(2)

    /// - Returns: The exit status: 0 when the child could end at once, and its parent goes on.
    static func run(_ url: URL) async -> Int32 {
        alarm(60)
        let transport = CurlTransport()
        guard await answers(transport, url) else { return 3 }
        // Swift hides it, as a child may do little; C libraries call it all the same.
        guard let function = dlsym(nil, "fork") else { return 4 }
        let fork = unsafeBitCast(function, to: (@convention(c) () -> pid_t).self)
        let start = ContinuousClock.now
        for exitsInOrder in [true, false] {
            let child = fork()
            if child == 0 {
                limitTime()
                transport.shutdown()
                if exitsInOrder { exit(0) } else { _exit(0) }
            }
            var status: Int32 = -1
            guard child > 0, waitpid(child, &status, 0) == child, status == 0 else { return 5 }
        }
        guard start.duration(to: .now) < tooLong, await answers(transport, url) else { return 6 }

        let child = fork()
        if child == 0 {
            limitTime()
            exit(outcomeInChild(transport, url))
        }
        var status: Int32 = -1
        guard child > 0, waitpid(child, &status, 0) == child else { return 7 }
        // The number of what went wrong in the child.
        guard status == 0 else { return status & 0x7f == 0 ? (status >> 8) & 0xff : 8 }
        return await answers(transport, url) ? 0 : 9
    }

    /// Ends a child that hangs.
    private static func limitTime() {
        // The threads that tasks run on have all signals blocked, and a child has those of the thread that forks.
        var alarms = sigset_t()
        sigemptyset(&alarms)
        sigaddset(&alarms, SIGALRM)
        sigprocmask(SIG_UNBLOCK, &alarms, nil)
        alarm(30)
    }

    private static func answers(_ transport: CurlTransport, _ url: URL) async -> Bool {
        let context = TransportContext()
        return (try? await transport.send(HTTPRequest(url: url), context: context).head.status) == 200
    }

    /// What a child gets of its parent's transport, and of one of its own.
    ///
    /// It has none of the threads that Swift's tasks run on either, so they run on the thread of the new transport.
    private static func outcomeInChild(_ old: CurlTransport, _ url: URL) -> Int32 {
        let new = CurlTransport()
        let outcome = Outcome()
        let isDone = DispatchSemaphore(value: 0)
        Task(executorPreference: new.executor) {
            outcome.number.store(await Self.outcome(old, new, url), ordering: .releasing)
            isDone.signal()
        }
        isDone.wait()
        return outcome.number.load(ordering: .acquiring)
    }

    private final class Outcome: Sendable {
        let number = Atomic<Int32>(-1)
    }

    private static func outcome(_ old: CurlTransport, _ new: CurlTransport, _ url: URL) async -> Int32 {
        let start = ContinuousClock.now
        // Twice: what the first one did must not hold up the second.
        for _ in 0..<2 {
            do {
                _ = try await old.send(HTTPRequest(url: url), context: TransportContext())
                return 20
            } catch let error as RequestError {
                guard case .shutDown = error.kind, "\(error)".contains("forked") else { return 21 }
            } catch {
                return 22
            }
        }
        guard start.duration(to: .now) < tooLong else { return 23 }
        for _ in 0..<2 {
            guard await answers(new, url) else { return 24 }
        }
        return 0
    }
}
