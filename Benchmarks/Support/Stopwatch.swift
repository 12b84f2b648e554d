import Glibc

/// Times small pieces of work by the CPU that they take.
package enum Stopwatch {
    /// The time of one measurement, long beside the clock's step and short beside anybody's patience.
    private static let span = 0.05

    /// Measures and prints one point of a curve: the least of five measurements, since whatever disturbs makes slower.
    ///
    /// The work says whether it was done.
    package static func print(_ name: String, peer: String = "netmanager", size: Int, _ work: () -> Bool) {
        guard work() else {
            Swift.print("# \(name) at \(size) failed")
            return
        }
        var repeats = 1
        while time(repeats, work) < span / 4, repeats < 1 << 24 { repeats *= 4 }
        let best = (0..<5).map { _ in time(repeats, work) / Double(repeats) }.min() ?? 0
        let nanoseconds = Measurement.text(best * 1e9, decimals: 1)
        Swift.print(
            "{\"micro\":\"\(name)\",\"by\":\"\(peer)\",\"size\":\(size),\"cpu_ns\":\(nanoseconds)}"
        )
    }

    private static func time(_ repeats: Int, _ work: () -> Bool) -> Double {
        let start = now
        for _ in 0..<repeats { _ = work() }
        return now - start
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
