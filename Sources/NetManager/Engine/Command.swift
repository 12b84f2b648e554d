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
    /// Whether there is a Kerberos ticket for a host is known.
    case ticket(String, Bool)
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
        case .cancel: .cancel(id)
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
enum TransferReply: Sendable {
    /// To a task that waits. If it waits on the engine's thread, it goes on there, and no other thread need be woken.
    case task(Handover<TransferAnswer>, staysOnEngine: Bool)
    /// To the library's own steps, which take it on the engine's thread.
    case steps(@Sendable (TransferAnswer) -> Void)

    /// Whether the answer is taken on the engine's thread.
    var staysOnEngine: Bool {
        switch self {
        case .task(_, let staysOnEngine): staysOnEngine
        case .steps: true
        }
    }

    /// Gives the answer; to be called once.
    func resume(with answer: TransferAnswer) {
        switch self {
        case .task(let continuation, _): continuation.resume(returning: answer)
        case .steps(let take): take(answer)
        }
    }

    func resume(throwing error: any Error) {
        resume(with: TransferAnswer(failed: error))
    }
}

/// A transfer that is to begin.
struct TransferStart: Sendable {
    let plan: TransferPlan
    let reply: TransferReply
    /// Kept while the response's body is read, so that a transport nobody else holds does not end under it.
    let owner: any AnyObject & Sendable
}

/// Hands what a call is told to its transfer.
struct TransferOrders: CallControl.Transfer {
    let engine: Engine
    let id: TransferID

    func take(_ order: CallControl.Order) {
        engine.post(.order(order, to: id))
    }
}
