import ChildProcess
import Foundation
import Locks
import Testing

/// The program of `Tests/LoadProbe`: a client alone in its process, so that the memory of that process is the client's.
final class LoadProbe: Sendable {
    /// What it says at its end; all in bytes.
    struct Report: Sendable {
        /// Resident before the work.
        var idle = 0
        /// The most that was resident during the work.
        var peak = 0
        /// Resident at the end of the work.
        var now = 0
        /// What went through.
        var bytes = 0
        /// Threads of engines.
        var engines = 0

        /// The most that the work took.
        var growth: Int { peak - idle }
    }

    private let process: ChildProcess
    private let lines: AsyncStream<String>
    /// Open while the program shall go on; nil when it was closed.
    private let input: Guarded<FileHandle?>

    /// Starts it with one of its works, the base URL and a number.
    init(_ work: String, _ base: String, _ count: Int) throws {
        let program = try #require(ChildProcess.built("LoadProbe"))
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        let (ours, theirs) = (ends[0], ends[1])
        defer { close(theirs) }
        process = try ChildProcess(
            program,
            [work, base, "\(count)"],
            environment: ["SWIFT_BACKTRACE=enable=no"],
            descriptors: [(theirs, STDIN_FILENO), (theirs, STDOUT_FILENO)]
        )
        let handle = FileHandle(fileDescriptor: ours, closeOnDealloc: true)
        input = Guarded(handle)
        let (lines, line) = AsyncStream<String>.makeStream()
        self.lines = lines
        // A thread of its own: it does nothing but wait.
        Thread.detachNewThread {
            var text = Data()
            while true {
                let data = handle.availableData
                if data.isEmpty { break }
                text += data
                while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                    line.yield(String(decoding: text[..<end], as: UTF8.self))
                    text = Data(text[text.index(after: end)...])
                }
            }
            line.finish()
        }
    }

    /// Returns when the program has said that its work is under way.
    func isReady() async throws {
        let line = await lines.first { _ in true }
        try #require(line == "ready")
    }

    /// Lets the program end its work, and reads what it says about it.
    func report() async throws -> Report {
        let handle = input.withLock { input in
            defer { input = nil }
            return input
        }
        // Our direction only: the report still comes.
        if let handle { shutdown(handle.fileDescriptor, Int32(SHUT_WR)) }
        let line = await lines.first { $0.hasPrefix("idle") }
        let words = try #require(line).split(separator: " ")
        func number(_ name: String) throws -> Int {
            let index = try #require(words.firstIndex { $0 == name })
            return try #require(Int(words[index + 1]))
        }
        let report = try Report(
            idle: number("idle"),
            peak: number("peak"),
            now: number("now"),
            bytes: number("bytes"),
            engines: number("engines")
        )
        #expect(await process.exit() == .status(0))
        return report
    }
}
