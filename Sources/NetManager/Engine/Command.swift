/// What the engine's thread is asked to do.
enum Command: Sendable {
    /// Begin a transfer.
    case start(TransferStart)
    /// End a transfer; nothing happens when it has ended already.
    case cancel(TransferID)
    /// The consumer of a body has made room, or a body to send has bytes again.
    case resume(TransferID)
    /// The caller pauses a transfer: no byte moves until it goes on.
    case pause(TransferID)
    /// The caller lets a transfer go on.
    case goOn(TransferID)
    /// The caller changes how urgent a transfer is.
    case prioritize(TransferID, RequestPriority)
    /// A transfer ends for a reason from outside of libcurl: its body to send cannot go on, or its manager ends.
    case fail(TransferID, TransferFailure)
    /// A program's hook has answered the question of this number.
    case answered(UInt64, ServerTrustChallenge.Answer)
    /// Call a closure as soon as nothing is under way.
    case whenIdle(@Sendable () -> Void)
    /// Close the connections that no transfer uses, as soon as nothing is under way.
    case closeIdleConnections
    /// Fail what runs, refuse what comes, end the thread.
    case stop

    /// What a call is told, as the engine's thread understands it.
    static func order(_ order: CallControl.Order, to id: TransferID) -> Command {
        switch order {
        case .shutDown: .fail(id, .shutDown)
        case .pause: .pause(id)
        case .goOn: .goOn(id)
        case .prioritize(let priority): .prioritize(id, priority)
        }
    }

    /// Answers a command that will not be carried out.
    func refuse(because failure: TransferFailure = .shutDown) {
        switch self {
        case .start(let start):
            start.reply.resume(throwing: failure.error(for: start.plan, phase: nil, response: nil))
        case .whenIdle(let closure):
            closure()
        default:
            break
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
