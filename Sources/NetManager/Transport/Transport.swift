public import HTTPMessage

/// What carries one request to one server and brings the response back.
///
/// It follows no redirect, retries nothing and judges no status: the layers above do that. Implementations are called
/// from many tasks at a time.
public protocol Transport: Sendable {
    /// Sends a request once and returns when the head of the final response is there.
    ///
    /// Cancelling the calling task ends the transfer.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse
}

/// A transport that has a thread of its own, on which the manager's own steps of a request may run.
package protocol ExecutorProviding: Transport {
    /// Runs jobs on the transport's thread. Users' code never runs there.
    var executor: any TaskExecutor { get }
}

/// A transport that keeps connections for later requests.
package protocol ConnectionKeeping: Transport {
    /// Closes the connections that no request uses.
    func closeIdleConnections()
}
