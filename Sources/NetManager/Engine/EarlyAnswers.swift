import CCurl
import CCurlShims

/// Transfers over HTTP/2 whose answers came while their bodies were still being sent.
///
/// A stream that the server has ended is over as soon as its last byte is sent. When libcurl 7.88 sends that byte it
/// does not look whether the stream is over: it waits for the server to say something else on the connection, which has
/// nothing left to say. So it is set going once the body is sent, and again whenever something has happened on a socket
/// since, as what libcurl has taken may still wait for the socket.
final class EarlyAnswers {
    private struct Entry {
        let transfer: Transfer
        var isSent = false
    }

    private var entries: [Entry] = []

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

    /// Lets libcurl see which streams are over, with its next timer.
    /// - Parameter hasHeard: Whether something has happened on a socket since the last look.
    func look(hasHeard: Bool) {
        for index in entries.indices where hasHeard || !entries[index].isSent {
            let transfer = entries[index].transfer
            guard transfer.hasSentAll else { continue }
            entries[index].isSent = true
            transfer.setGoing()
        }
    }
}

extension Transfer {
    /// Whether libcurl has sent the whole body, or holds what is left of it.
    fileprivate var hasSentAll: Bool {
        guard let handle, place == .inLibcurl, !isPaused, !isFull else { return false }
        let length = handle.measure(CURLINFO_CONTENT_LENGTH_UPLOAD_T)
        // Below zero: the length was not declared.
        return length < 0 ? upload.hasEnded : handle.measure(CURLINFO_SIZE_UPLOAD_T) >= length
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
