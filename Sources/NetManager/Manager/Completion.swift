import Dispatch
import HTTPMessage

/// The closures of a call and where to call them.
struct Completion<Output: Sendable>: Sendable {
    let queue: DispatchQueue
    /// What calls closures together on a queue that is the manager's own; nil for a user's.
    let ownLanes: Lanes?
    let task: RequestTask
    let success: (@Sendable (RequestTask, Output) -> Void)?
    let failure: (@Sendable (RequestTask, RequestError) -> Void)?

    /// Calls exactly one of the closures, on the queue.
    ///
    /// Whether the call was cancelled is asked there and not before, so that a program that cancels on its completion
    /// queue never sees a success afterwards.
    /// - Parameters:
    ///   - result: What came.
    ///   - line: Names the request.
    ///   - ended: Told of the outcome just before the closure: the error, nil for a success.
    ///   - left: Called when the closure has returned.
    func deliver(
        _ result: Result<Output, RequestError>,
        for line: HTTPRequestLine,
        ended: @escaping @Sendable (RequestError?) -> Void = { _ in },
        left: @escaping @Sendable () -> Void = {}
    ) {
        let call: @Sendable () -> Void = {
            defer { left() }
            let isCancelled = task.finish()
            switch result {
            case .success where isCancelled:
                let error = RequestError(.cancelled, method: line.method, url: line.url)
                ended(error)
                failure?(task, error)
            case .success(let output):
                ended(nil)
                success?(task, output)
            case .failure(let error):
                ended(error)
                failure?(task, error)
            }
        }
        if let ownLanes { ownLanes.complete(on: queue, call) } else { queue.async(execute: call) }
    }
}

/// What names a request in an error.
struct HTTPRequestLine: Sendable {
    let method: HTTPMethod
    let url: String

    init(method: HTTPMethod, url: String) {
        self.method = method
        self.url = url
    }

    init(_ request: HTTPRequest) {
        self.init(method: request.method, url: request.url.absoluteString)
    }
}
