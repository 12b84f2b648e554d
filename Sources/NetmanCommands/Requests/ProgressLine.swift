import FoundationEssentials
import Locks
import NetManager

/// Draws a progress bar over and over on one line of a terminal; writes nothing where there is none.
final class ProgressLine: Sendable {
    private struct State {
        var start: ContinuousClock.Instant
        var drawn: ContinuousClock.Instant?
        var resumedFrom: Int64?
        var isFinished = false
    }

    private let stream: Console.Stream
    private let state = Guarded(State(start: .now))

    init(_ stream: Console.Stream) {
        self.stream = stream
    }

    /// Takes progress from any thread.
    func report(_ progress: TransferProgress) {
        guard stream.isTerminal else { return }
        let now = ContinuousClock.now
        let isLast = progress.completed == progress.total
        let due = state.withLock { state -> (elapsed: Duration, resumedFrom: Int64)? in
            if state.isFinished { return nil }
            if state.resumedFrom == nil { state.resumedFrom = progress.completed }
            // Ten times a second is as fast as anybody reads.
            if !isLast, let drawn = state.drawn, now - drawn < .milliseconds(100) { return nil }
            state.drawn = now
            return (now - state.start, state.resumedFrom ?? 0)
        }
        guard let due else { return }
        let bar = ProgressBar(width: max(20, (stream.width ?? 80) - 1))
        let line = bar.line(progress, resumedFrom: due.resumedFrom, elapsed: due.elapsed)
        // Back to the first column, and clear what is left of the line before.
        stream.write(Data("\r\u{1B}[K\(line)".utf8))
    }

    /// Leaves the line, if one was drawn; progress that is told late is not drawn any more.
    func finish() {
        let wasDrawn = state.withLock { state in
            defer { state.isFinished = true }
            return state.drawn != nil && !state.isFinished
        }
        if wasDrawn { stream.write(Data("\n".utf8)) }
    }
}
