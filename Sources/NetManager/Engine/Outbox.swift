import Dispatch
import FoundationEssentials

/// What transfers have to tell the outside, kept until libcurl has returned.
///
/// Nothing may be called from inside one of libcurl's callbacks, and results that are ready together are handed on
/// together.
final class Outbox {
    enum Message: Sendable {
        /// The answer to a call.
        case reply(UnsafeContinuation<StreamedResponse, any Error>, Result<StreamedResponse, any Error>)
        /// A piece of a body, or its end, to the one who waits for it.
        case piece(UnsafeContinuation<Data?, any Error>, Result<Data?, any Error>)

        fileprivate func deliver() {
            switch self {
            case .reply(let continuation, let result): continuation.resume(with: result)
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
        guard taken.count > 1 else { return taken[0].deliver() }
        DispatchQueue.global().async {
            for message in taken { message.deliver() }
        }
    }
}
