import FoundationEssentials
import Glibc

/// What one run of a workload cost, in the shape that every client prints.
package struct Measurement {
    private let cpu: Double
    private let wall: ContinuousClock.Instant
    private let resident: Int

    private let base: Int

    /// Begins to measure.
    /// - Parameter base: What memory was resident before anything was made, in KiB; nil for what is now.
    package init(base: Int? = nil) {
        resident = Self.residentKiB
        self.base = base ?? resident
        wall = .now
        cpu = Self.cpuMicroseconds
    }

    /// Ends the measurement and prints it as a line of JSON.
    package func report(_ client: String, requests: Int, errors: Int) {
        let cpu = Self.cpuMicroseconds - cpu
        let wall = wall.duration(to: .now)
        let seconds = Double(wall.components.seconds) + Double(wall.components.attoseconds) / 1e18
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let fields: [(String, String)] = [
            ("client", "\"\(client)\""), ("requests", "\(requests)"),
            ("cpu_us", Self.text(cpu / Double(max(requests, 1)), decimals: 3)),
            ("wall_s", Self.text(seconds, decimals: 4)), ("errors", "\(errors)"),
            ("peak_rss_kib", "\(usage.ru_maxrss)"), ("base_rss_kib", "\(base)"),
            ("start_rss_kib", "\(resident)"), ("end_rss_kib", "\(Self.residentKiB)"),
            ("threads", "\(Self.threads)"),
        ]
        print("{" + fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}")
    }

    /// A number with a fixed number of decimals.
    package static func text(_ value: Double, decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }
        let whole = Int64((abs(value) * scale).rounded())
        let digits = String(whole)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        let sign = value < 0 ? "-" : ""
        return decimals == 0
            ? sign + padded : sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }

    private static var cpuMicroseconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].map { Double($0.tv_sec) * 1e6 + Double($0.tv_usec) }.reduce(
            0,
            +
        )
    }

    /// The memory that is resident now.
    package static var residentKiB: Int {
        let words = contents("/proc/self/statm").split(separator: " ")
        return words.count > 1 ? (Int(words[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) / 1024 : 0
    }

    private static var threads: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }

    private static func contents(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
