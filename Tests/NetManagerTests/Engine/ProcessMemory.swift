import FoundationEssentials
import Glibc
import Testing

/// A line of /proc/self/status in bytes: `VmRSS` is what is resident, `VmHWM` its peak (proc(5)).
func memory(_ name: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + ":") })
    let words = line.split(whereSeparator: \.isWhitespace)
    return try #require(Int(words[1])) * 1024
}

/// Whether a sanitizer is in the process, whose own memory grows with every event.
var isSanitized: Bool {
    dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
