import TestServer

extension TestServer {
    /// Waits until the server sends no more: the counter is the same over many turns of other work.
    /// - Returns: How many bytes it has sent.
    @discardableResult func sentBytesAtRest() async -> Int {
        var last = -1
        var equal = 0
        while equal < 200 {
            let now = counters.sentBytes
            equal = now == last ? equal + 1 : 0
            last = now
            // As long as a wait gets without a clock. A turn takes the thread sanitizer fourteen times as long.
            for _ in 0..<(isSanitized ? 300 : 1000) { await Task.yield() }
        }
        return last
    }
}
