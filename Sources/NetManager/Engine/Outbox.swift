import Dispatch
import FoundationEssentials

/// What transfers have to tell the outside, kept until libcurl has returned.
///
/// Nothing may be called from inside one of libcurl's callbacks, and results that are ready together are handed on
/// together.
final class Outbox {
    enum Message: Sendable {
        /// The answer to a call.
        case reply(TransferReply, Result<StreamedResponse, any Error>)
        /// A piece of a body, or its end, to the one who waits for it.
        case piece(Handover<Data?>, Result<Data?, any Error>)

        /// Whether the one who waits goes on on the engine's thread.
        fileprivate var staysOnEngine: Bool {
            if case .reply(let reply, _) = self { reply.staysOnEngine } else { false }
        }

        fileprivate func deliver() {
            switch self {
            case .reply(let reply, let result): reply.resume(with: result)
            case .piece(let continuation, let result): continuation.resume(with: result)
            }
        }
    }

    private var messages: [Message] = []

    func add(_ message: Message) {
        messages.append(message)
    }

    func deliver() {
        guard !messages.isEmpty else { return }
        let taken = messages
        messages.removeAll(keepingCapacity: true)
        let elsewhere = taken.filter { !$0.staysOnEngine }
        for message in taken where message.staysOnEngine { message.deliver() }
        guard elsewhere.count > 1 else {
            elsewhere.first?.deliver()
            return
        }
        // Each task that is resumed here may wake a thread of Swift's pool, which takes this thread's core, does one
        // step and sleeps again. One of the pool's threads that resumes them all wakes few others.
        DispatchQueue.global().async {
            for message in elsewhere { message.deliver() }
        }
    }
}
