import Dispatch
import FoundationEssentials
import Glibc

/// What the process took.
struct Report {
    /// Resident bytes before the work.
    let idle: Int
    /// The most resident bytes during the work.
    let peak = Memory.line("VmHWM")
    /// Resident bytes now.
    let now = Memory.line("VmRSS")
    /// What went through.
    let bytes: Int
    /// Threads of engines.
    let engines: Int

    init(idle: Int, bytes: Int) throws {
        self.idle = idle
        self.bytes = bytes
        let files = FileManager.default
        engines = try files.contentsOfDirectory(atPath: "/proc/self/task").count { thread in
            let name = files.contents(atPath: "/proc/self/task/\(thread)/comm") ?? Data()
            return String(decoding: name, as: UTF8.self).hasPrefix("NetManager")
        }
    }

    var text: String { "idle \(idle) peak \(peak) now \(now) bytes \(bytes) engines \(engines)" }
}

/// The process's memory as Linux counts it (proc(5)).
enum Memory {
    /// A line of /proc/self/status in bytes.
    static func line(_ name: String) -> Int {
        let data = FileManager.default.contents(atPath: "/proc/self/status") ?? Data()
        let line = String(decoding: data, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix(name + ":")
        }
        let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        return (number ?? 0) << 10
    }

    /// Makes the present size the peak, and returns it.
    static func settle() throws -> Int {
        try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        return line("VmRSS")
    }
}

/// Prints a line at once.
func say(_ text: String) {
    let line = text + "\n"
    _ = line.withCString { write(STDOUT_FILENO, $0, strlen($0)) }
}

/// Waits until the standard input ends, on no thread that others need.
func hear() async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            continuation.resume()
        }
    }
}
