import FoundationEssentials
import Locks
import NetmanCommands

/// One run of the program, inside the process.
struct NetmanRun: Sendable {
    let status: Int32
    let output: Data
    let errors: String

    /// What was printed, as text.
    var text: String { String(decoding: output, as: UTF8.self) }

    var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init) }

    /// Runs it.
    ///
    /// - Parameters:
    ///   - arguments: The command line.
    ///   - columns: The terminal's width; nil where there is none.
    ///   - hasColors: Whether the terminal has colors.
    ///   - answers: What is typed when something secret is asked for, one after the other.
    init(
        _ arguments: [String],
        columns: Int? = nil,
        hasColors: Bool = false,
        answers: [String] = []
    ) async {
        let answers = Guarded(answers[...])
        let output = Guarded(Data())
        let errors = Guarded(Data())
        func stream(_ bytes: Guarded<Data>) -> Console.Stream {
            Console.Stream(isTerminal: columns != nil, hasColors: hasColors, width: columns) { data in
                bytes.withLock { $0 += data }
            }
        }
        let console = Console(output: stream(output), errors: stream(errors)) { _ in
            guard let answer = answers.withLock({ $0.popFirst() }) else { throw NobodyAnswers() }
            return Array(answer.utf8)
        }
        status = await Netman.run(arguments, console: console)
        self.output = output.withLock { $0 }
        self.errors = String(decoding: errors.withLock { $0 }, as: UTF8.self)
    }
}

/// Nobody sits at the terminal.
struct NobodyAnswers: Error {}

/// A folder that goes away with its last reference.
final class Workspace: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/netman-\(UUID())"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func path(_ name: String) -> String { path + "/" + name }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
        return path(name)
    }

    func read(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path(name))) }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
}
