import ChildProcess
import Glibc
import Testing

@testable import NetmanCommands

/// The program itself, in a process of its own.
@Suite struct ProgramTests {
    /// What a run wrote to its two streams, and its status.
    private struct Run {
        var output: String
        var errors: String
        var exit: ChildProcess.Exit
    }

    /// Sanitizers find in a child what the tests of the commands find here; what is counted for coverage is kept.
    private static let environment =
        ["PATH=/usr/bin:/bin", "SWIFT_BACKTRACE=enable=no", "ASAN_OPTIONS=detect_leaks=0"]
        + [getenv("LLVM_PROFILE_FILE")].compactMap { $0.map { "LLVM_PROFILE_FILE=" + String(cString: $0) } }

    /// Runs it with files as its streams: a shell sends them there.
    private func run(_ arguments: String...) async throws -> Run {
        let program = try #require(ChildProcess.built("netman"))
        let folder = try Workspace()
        let line = #""$0" "$@" >"$OUT" 2>"$ERR" </dev/null"#
        let process = try ChildProcess(
            "sh",
            ["-c", line, program] + arguments,
            environment: ["OUT=\(folder.path("out"))", "ERR=\(folder.path("err"))"] + Self.environment
        )
        let exit = await process.exit()
        return Run(
            output: String(decoding: try folder.read("out"), as: UTF8.self),
            errors: String(decoding: try folder.read("err"), as: UTF8.self),
            exit: exit
        )
    }

    @Test func `results go to standard output, remarks to standard error, and the status to the shell`()
        async throws
    {
        let help = try await run("--help")
        #expect(help.exit == .status(0))
        #expect(help.output.hasPrefix("usage: netman COMMAND"))
        #expect(help.errors.isEmpty)
        let wrong = try await run("nonsense")
        #expect(wrong.exit == .status(2))
        #expect(wrong.output.isEmpty)
        #expect(wrong.errors == "netman: there is no command nonsense; see netman --help\n")
    }

    /// What a person sees of a run on a terminal.
    private func seen(_ arguments: [String], _ environment: [String]) async throws -> String {
        let terminal = try PseudoTerminal()
        let process = try ChildProcess(
            try #require(ChildProcess.built("netman")),
            arguments,
            environment: environment + Self.environment,
            descriptors: [(terminal.program, STDOUT_FILENO), (terminal.program, STDERR_FILENO)]
        )
        let text = await terminal.shown(until: "\n")
        _ = await process.exit()
        return text
    }

    @Test(arguments: [
        (["TERM=xterm"], true), (["TERM=xterm", "NO_COLOR="], true), (["TERM=xterm", "NO_COLOR=1"], false),
        (["TERM=dumb"], false),
    ])
    func `a terminal gets colors unless it cannot show them or nobody wants them`(
        environment: [String],
        isColored: Bool
    ) async throws {
        let text = try await seen(["get", "ftp://h/"], environment)
        #expect(text.hasPrefix("netman: "))
        #expect(text.contains("\u{1B}[31m") == isColored, "\(text.debugDescription)")
    }

    @Test func `a question without a terminal to ask it on is an error with the way out`() async throws {
        let folder = try Workspace()
        let program = try #require(ChildProcess.built("netman"))
        // In a session of its own there is no terminal, wherever the tests are run from.
        let process = try ChildProcess(
            "sh",
            [
                "-c", #"setsid --wait "$0" backup-key spare --encrypt -d "$DIR" >"$DIR/out" 2>&1"#, program,
            ],
            environment: ["DIR=\(folder.path)"] + Self.environment
        )
        #expect(await process.exit() == .status(2))
        let text = String(decoding: try folder.read("out"), as: UTF8.self)
        #expect(text.contains("give --passphrase-file"))
        #expect(!folder.has("spare.key"))
    }
}
