import Dispatch
import FoundationEssentials

/// What transfers have to tell the outside, kept until libcurl has returned.
///
/// Nothing may be called from inside one of libcurl's callbacks, and results that are ready together are handed on
/// together.
final class Outbox {
    enum Message: Sendable {
        /// The answer to a call.
        case reply(TransferReply, TransferAnswer)
        /// The first piece of a body, to the one who waits for it.
        case body(BodyChannel)
        /// The end of a body, to the one who waits for it.
        case end(Handover<Data?>, Result<Data?, any Error>)
        /// A jar may have more cookies than it shall keep.
        case surplus(CookieJar)

        /// Whether the one who waits goes on on the engine's thread.
        fileprivate var staysOnEngine: Bool {
            switch self {
            case .reply(let reply, _): reply.staysOnEngine
            case .body, .end: false
            // Elsewhere, servers might set more meanwhile than is dropped.
            case .surplus: true
            }
        }

        fileprivate func deliver() {
            switch self {
            case .reply(let reply, let answer): reply.resume(with: answer)
            case .body(let channel): channel.handOn()
            case .end(let continuation, let result): continuation.resume(with: result)
            case .surplus(let jar): jar.dropSurplus()
            }
        }
    }

    // Nothing outside is called while one of them is changed, so the run time need not watch for a second access.
    @exclusivity(unchecked) private var here: [Message] = []
    /// The memory of those that were delivered.
    @exclusivity(unchecked) private var spare: [Message] = []
    @exclusivity(unchecked) private var elsewhere: [Message] = []

    func add(_ message: Message) {
        if message.staysOnEngine { here.append(message) } else { elsewhere.append(message) }
    }

    func deliver() {
        while !here.isEmpty {
            // What is delivered here may add to what is to be delivered.
            var taken: [Message] = []
            swap(&taken, &spare)
            swap(&taken, &here)
            for message in taken { message.deliver() }
            taken.empty()
            swap(&taken, &spare)
        }
        guard !self.elsewhere.isEmpty else { return }
        var elsewhere: [Message] = []
        // The next turn has about as many, and its list would grow step by step.
        elsewhere.reserveCapacity(min(self.elsewhere.count, 256))
        swap(&elsewhere, &self.elsewhere)
        guard elsewhere.count > 1 else {
            elsewhere.first?.deliver()
            return
        }
        // Each task that is resumed here may wake a thread of Swift's pool, which takes this thread's core, does one
        // step and sleeps again. One of the pool's threads that resumes them all wakes few others.
        DispatchQueue.global().async { [elsewhere] in
            for message in elsewhere { message.deliver() }
        }
    }
}

extension Array {
    /// Removes all elements and keeps their memory for the next ones, unless it is much.
    mutating func empty() {
        removeAll(keepingCapacity: capacity <= 1024)
    }
}
