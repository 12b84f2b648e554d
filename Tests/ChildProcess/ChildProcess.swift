import Dispatch
public import Glibc
import Locks

/// A program that runs beside the tests.
///
/// Foundation's `Process` is not used in tests: on Linux its `run()` reads beyond the entries of /proc/self/fd and
/// crashes the caller every now and then once many descriptors are open (swift-corelibs-foundation issue 5472).
public struct ChildProcess: Sendable {
    /// How a program ended.
    public enum Exit: Sendable, Hashable {
        /// It returned or exited with this status.
        case status(Int32)
        /// It was ended by this signal.
        case signal(Int32)
    }

    /// A program could not be started, or failed.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// Which program, and its own words or the system's.
        public let description: String
    }

    private struct Life {
        var isWaitedFor = false
        var exit: Exit?
    }

    /// Its process id, which may be another program's once it has ended.
    public let identifier: pid_t
    private let life = Guarded(Life())
    /// Open from the end on.
    private let end = DispatchSemaphore(value: 0)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: The path; without a slash the directories of `PATH` are searched.
    ///   - arguments: What follows its name.
    ///   - environment: `NAME=value` each, and nothing else; nil gives it the environment of the tests.
    ///   - descriptors: What it inherits here under the numbers there. What else the tests have open is closed in it,
    ///     as they open everything that way.
    ///   - isSilent: Whether what it prints is thrown away where `descriptors` say nothing else. A program that may
    ///     outlive crashed tests must be: whoever reads the tests' output would wait for its end.
    /// - Throws: `Failure` with the system's reason.
    public init(
        _ executable: String,
        _ arguments: [String],
        environment: [String]? = nil,
        descriptors: [(here: Int32, there: Int32)] = [],
        isSilent: Bool = false
    ) throws(Failure) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if isSilent {
            for stream in [STDOUT_FILENO, STDERR_FILENO] {
                posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
            }
        }
        for (here, there) in descriptors { posix_spawn_file_actions_adddup2(&actions, here, there) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads that tests run on block most signals, and a child would inherit that: no SIGTERM would end it.
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = ([executable] + arguments).map { strdup($0) } + [nil]
        var variables = (environment ?? []).map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var process = pid_t()
        let result = variables.withUnsafeMutableBufferPointer { own in
            posix_spawnp(
                &process,
                executable,
                &actions,
                &attributes,
                &words,
                environment == nil ? environ : own.baseAddress
            )
        }
        guard result == 0 else {
            throw Failure(description: "cannot start \(executable): \(String(cString: strerror(result)))")
        }
        identifier = process
    }

    /// Asks the program to end, unless it has, and waits until it did.
    public func end(by signal: Int32 = SIGTERM) {
        // Its number stays its own until its end has been taken note of, which needs the lock.
        life.withLock { if $0.exit == nil { kill(identifier, signal) } }
        _ = wait()
    }

    /// Blocks the thread until the program has ended.
    public func wait() -> Exit {
        let isFirst = life.withLock { life in
            defer { life.isWaitedFor = true }
            return !life.isWaitedFor
        }
        if isFirst {
            var information = siginfo_t()
            // Only looks, and leaves its number to it.
            while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
            life.withLock { $0.exit = noteEnd() }
        } else {
            end.wait()
        }
        // For the next one.
        end.signal()
        return life.withLock { $0.exit } ?? .status(-1)
    }

    private func noteEnd() -> Exit {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .status((status >> 8) & 0xff) : .signal(signal)
    }

    /// How the program ends, once it did.
    ///
    /// Takes none of the few threads that every other test runs on.
    public func exit() async -> Exit {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: wait()) }
        }
    }

    /// Runs a program to its end and returns all that it printed; any other status than 0 is thrown with it.
    ///
    /// Blocks the thread: for programs that take an instant.
    ///
    /// - Parameters:
    ///   - executable: The path; without a slash the directories of `PATH` are searched.
    ///   - arguments: What follows its name.
    ///   - environment: `NAME=value` each, and nothing else; nil gives it the environment of the tests.
    /// - Returns: All that it printed.
    /// - Throws: `Failure` when it cannot be started or fails.
    @discardableResult
    public static func output(
        of executable: String,
        _ arguments: [String],
        environment: [String]? = nil
    ) throws(Failure) -> String {
        var ends: [Int32] = [-1, -1]
        // Closed in every other child from the start, which a pipe cannot be: one that held it would be waited for.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw Failure(description: "cannot make two sockets: \(String(cString: strerror(errno)))")
        }
        defer { close(ends[0]) }
        let process: ChildProcess
        do {
            defer { close(ends[1]) }
            process = try ChildProcess(
                executable,
                arguments,
                environment: environment,
                descriptors: [(ends[1], STDOUT_FILENO), (ends[1], STDERR_FILENO)]
            )
        }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(ends[0], &buffer, buffer.count)
            if count > 0 { output += buffer[..<count] }
            if count == 0 || (count < 0 && errno != EINTR) { break }
        }
        let text = String(decoding: output, as: UTF8.self)
        let exit = process.wait()
        guard exit == .status(0) else {
            throw Failure(description: "\(executable) ended with \(exit): \(text)")
        }
        return text
    }
}
