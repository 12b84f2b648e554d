import CCurl
import CCurlShims

/// Transfers over HTTP/2 whose answers came while their bodies were still being sent.
///
/// A stream that the server has ended is over as soon as its last byte is sent. When libcurl 7.88 sends that byte it
/// does not look whether the stream is over: it waits for the server to say something else on the connection, which has
/// nothing left to say. So it is set going once the body is sent, one transfer in a turn: libcurl notes what it is to
/// look for with the connection, and the first transfer that runs takes that from all others. Nobody is told when the
/// last byte leaves, nor whether the look was the transfer's own, so it is repeated when something has happened on a
/// socket, and after a while that grows.
final class EarlyAnswers {
    private struct Entry {
        let transfer: Transfer
        var looks: UInt64 = 0
        /// When it is to be set going the next time, in nanoseconds of the monotonic clock.
        var next: UInt64 = 0
    }

    // Nothing outside is called while it is changed.
    @exclusivity(unchecked) private var entries: [Entry] = []

    /// The head of a transfer's answer is there.
    func add(_ transfer: Transfer) {
        remove(transfer)
        entries.append(Entry(transfer: transfer))
    }

    /// A transfer has ended.
    func remove(_ transfer: Transfer) {
        guard !entries.isEmpty else { return }
        entries.removeAll { $0.transfer === transfer }
    }

    /// Lets libcurl see whether a stream is over, with its next timer.
    /// - Parameter hasHeard: Whether something has happened on a socket since the last look.
    /// - Returns: When the next look is due, in nanoseconds of the monotonic clock; nil where there is nothing to look at.
    func look(hasHeard: Bool) -> UInt64? {
        guard !entries.isEmpty else { return nil }
        let now = MonotonicClock.nanoseconds
        var chosen: Int?
        var earliest: UInt64?
        for index in entries.indices where entries[index].transfer.mayBeOver {
            if hasHeard { entries[index].next = min(entries[index].next, now) }
            let next = entries[index].next
            if next <= now, chosen.map({ next < entries[$0].next }) ?? true { chosen = index }
            earliest = min(earliest ?? next, next)
        }
        guard let chosen else { return earliest }
        // From a millisecond to a second, so that a stream that stays open costs next to nothing.
        entries[chosen].next = now + 1_000_000 << min(entries[chosen].looks, 10)
        entries[chosen].looks += 1
        entries[chosen].transfer.setGoing()
        return now
    }
}

extension Transfer {
    /// Whether all is sent and the response may have ended.
    fileprivate var mayBeOver: Bool {
        place == .inLibcurl && !isPaused && !isFull && hasSentAll && isComplete != false
    }

    /// Makes libcurl look at the transfer though nothing has happened.
    ///
    /// It does so for one that goes on after a pause.
    fileprivate func setGoing() {
        guard let handle else { return }
        curl_easy_pause(handle.pointer, CURLPAUSE_RECV)
        curl_easy_pause(handle.pointer, 0)
    }
}
