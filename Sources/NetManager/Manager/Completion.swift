import Dispatch
import HTTPMessage

/// The closures of a call and where to call them.
struct Completion: Sendable {
    /// Calls the closure of success with what came.
    typealias Success = @Sendable (RequestTask) -> Void

    /// How a call ended.
    enum Outcome: Sendable {
        case success(Success)
        indirect case failure(RequestError)
    }

    let queue: DispatchQueue
    /// What calls closures together on a queue that is the manager's own; nil for a user's.
    let ownLanes: Lanes?
    let task: RequestTask
    let failure: (@Sendable (RequestTask, RequestError) -> Void)?

    /// Calls a closure on the queue.
    func enqueue(_ call: @escaping @Sendable () -> Void) {
        if let ownLanes { ownLanes.complete(on: queue, call) } else { queue.async(execute: call) }
    }

    /// Calls exactly one of the closures; to be called on the queue.
    ///
    /// Whether the call was cancelled is asked here and not before, so that a program that cancels on its completion
    /// queue never sees a success afterwards.
    /// - Parameters:
    ///   - outcome: What came.
    ///   - exchange: The call, which is told of the outcome just before the closure, and when that has returned.
    ///   - head: The head of the response, for monitors.
    func call(_ outcome: Outcome, _ exchange: Exchange, _ head: HTTPResponse.Head?) {
        defer { exchange.left() }
        let isCancelled = task.finish()
        switch outcome {
        case .success where isCancelled:
            let error = RequestError(
                .cancelled,
                method: exchange.request.method,
                url: exchange.request.url.absoluteString
            )
            exchange.ended(head, error, isDelivered: false)
            failure?(task, error)
        case .success(let success):
            exchange.ended(head, nil, isDelivered: false)
            success(task)
        case .failure(let error):
            exchange.ended(head, error, isDelivered: false)
            failure?(task, error)
        }
    }

    /// Tells of a call that could not be made.
    func refuse(_ error: RequestError) {
        enqueue { [task, failure] in
            _ = task.finish()
            failure?(task, error)
        }
    }
}
