/// What the engine's thread is asked to do.
enum Command: Sendable {
    /// Begin a transfer.
    case start(TransferStart)
    /// End a transfer; nothing happens when it has ended already.
    case cancel(TransferID)
    /// The consumer of a body has made room, or a body to send has bytes again.
    case resume(TransferID)
    /// A body to send cannot go on.
    case uploadFailed(TransferID, TransferFailure)
    /// A program's hook has answered the question of this number.
    case answered(UInt64, ServerTrustChallenge.Answer)
    /// Fail what runs, refuse what comes, end the thread.
    case stop

    /// Answers a command that will not be carried out.
    func refuse() {
        if case .start(let start) = self {
            start.reply.resume(throwing: start.plan.error(.shutDown))
        }
    }
}

/// Names a transfer for as long as the process lives.
struct TransferID: Hashable, Sendable {
    let number: UInt64
}

/// Where the answer to a call goes.
struct TransferReply: Sendable {
    private let continuation: Handover<StreamedResponse>
    /// Whether the waiting task goes on on the engine's thread, where it needs no other thread to be woken.
    let staysOnEngine: Bool

    init(_ continuation: Handover<StreamedResponse>, staysOnEngine: Bool) {
        self.continuation = continuation
        self.staysOnEngine = staysOnEngine
    }

    func resume(with result: Result<StreamedResponse, any Error>) {
        continuation.resume(with: result)
    }

    func resume(throwing error: any Error) {
        continuation.resume(throwing: error)
    }
}

/// A transfer that is to begin.
struct TransferStart: Sendable {
    let token: TransferToken
    let plan: TransferPlan
    let reply: TransferReply
    /// Kept while the response's body is read, so that a transport nobody else holds does not end under it.
    let owner: any AnyObject & Sendable
}
