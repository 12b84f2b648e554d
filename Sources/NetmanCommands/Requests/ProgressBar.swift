import NetManager

/// A line that shows how far a transfer is: a pure function of the figures.
struct ProgressBar: Sendable {
    var width = 80

    /// The line, which has at most `width` characters.
    ///
    /// - Parameters:
    ///   - progress: How much of how much.
    ///   - resumedFrom: What was there before.
    ///   - elapsed: Since the start.
    /// - Returns: The line without its end.
    func line(_ progress: TransferProgress, resumedFrom: Int64 = 0, elapsed: Duration) -> String {
        let seconds = max(elapsed / .seconds(1), 0.001)
        let rate = Double(max(0, progress.completed - resumedFrom)) / seconds
        var figures = Self.size(progress.completed)
        if let total = progress.total, let fraction = progress.fraction {
            figures += " of \(Self.size(total))"
            if rate > 0 {
                figures += "  \(Self.size(Int64(min(rate, 9e18))))/s"
                let left = Double(max(0, total - progress.completed)) / rate
                if left.isFinite, left < 360_000 { figures += "  \(Self.clock(Int(left.rounded(.up))))" }
            }
            let percent = "\(Int(fraction * 100))"
            let head = String(repeating: " ", count: max(0, 3 - percent.count)) + percent + " %"
            let space = width - head.count - figures.count - 5
            guard space >= 5 else { return String("\(head)  \(figures)".prefix(width)) }
            let full = min(space, Int(Double(space) * fraction))
            let bar = String(repeating: "#", count: full) + String(repeating: ".", count: space - full)
            return "\(head) [\(bar)]  \(figures)"
        }
        if rate > 0 { figures += "  \(Self.size(Int64(min(rate, 9e18))))/s" }
        return String("      \(figures)".prefix(width))
    }

    /// Bytes in the unit that leaves at most four digits.
    static func size(_ bytes: Int64) -> String {
        var value = Double(bytes)
        for unit in ["B", "KiB", "MiB", "GiB"] {
            if value < 1000 || unit == "GiB" {
                if unit == "B" { return "\(bytes) B" }
                let tenths = Int((value * 10).rounded())
                return "\(tenths / 10).\(tenths % 10) \(unit)"
            }
            value /= 1024
        }
        return "\(bytes) B"
    }

    private static func clock(_ seconds: Int) -> String {
        let (minutes, rest) = seconds.quotientAndRemainder(dividingBy: 60)
        return "\(minutes):" + (rest < 10 ? "0" : "") + "\(rest)"
    }
}
