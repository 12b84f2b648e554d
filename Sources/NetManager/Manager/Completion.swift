import Dispatch
import HTTPMessage

/// The closures of a call and where to call them.
struct Completion: Sendable {
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
    ///   - error: What the call failed with; nil when it did not.
    ///   - exchange: The call, which is told of the outcome just before the closure, and when that has returned.
    ///   - head: The head of the response, for monitors.
    ///   - success: Calls the closure of success with what came.
    func call(
        _ error: RequestError?,
        _ exchange: Exchange,
        _ head: HTTPResponse.Head?,
        success: () -> Void
    ) {
        // The task has told who follows its progress.
        defer { exchange.left(tellsProgress: false) }
        let isCancelled = task.finish()
        guard let error = error ?? (isCancelled ? cancellation(of: exchange) : nil) else {
            if exchange.events != nil { exchange.ended(head, nil, isDelivered: false) }
            return success()
        }
        exchange.ended(head, error, isDelivered: false)
        failure?(task, error)
    }

    private func cancellation(of exchange: Exchange) -> RequestError {
        let request = exchange.request
        return RequestError(.cancelled, method: request.method, url: request.url.absoluteString)
    }

    /// Tells of a call that could not be made.
    func refuse(_ error: RequestError) {
        enqueue { [task, failure] in
            _ = task.finish()
            failure?(task, error)
        }
    }
}
