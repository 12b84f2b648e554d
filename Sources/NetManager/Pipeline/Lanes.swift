import Dispatch
import FoundationEssentials

/// Decides which code runs on the engine's thread and which never does.
///
/// A request that changes threads at every step spends more time on being woken than on its own work. An async call
/// therefore crosses threads twice, to the engine as a command and back as its answer, and its steps run where its
/// caller is; when it has to wait more than once, for a redirect or with retries, and the transport has an executor,
/// they move there and wait without being woken elsewhere. A closure call, which has no place of its own, runs on the
/// executor from its beginning and crosses from there to the completion queue.
///
/// The engine's thread also serves every other transfer. So whatever users wrote — interceptors, hooks, serializers,
/// `Decodable` initializers, body sequences — must not run there, and a task that prefers an executor takes along
/// everything that it calls, default actors included. Each such call goes through ``offEngine(_:)``, or happens
/// outside of ``onEngine(_:)``. Preferring no executor does not leave the engine; preferring the global one does.
///
/// A class, as every step of a call keeps it.
final class Lanes: Sendable {
    /// The engine's executor; nil when the transport has none, and then all code stays where it is.
    let engine: (any TaskExecutor)?

    /// The transport itself, where requests can be handed to it without a task that waits; nil for others.
    let transport: CurlTransport?

    /// What carries requests, of whatever kind.
    let carrier: any Transport

    /// One for each loop of the transport, where it has several; the first is the one that has them.
    private let others: [Lanes]

    convenience init(_ transport: any Transport) {
        let ofCurl = transport as? CurlTransport
        self.init(
            transport,
            engine: (transport as? any ExecutorProviding)?.executor,
            others: ofCurl?.loops?.engines.map { Lanes(transport, engine: $0, others: []) } ?? []
        )
    }

    private init(_ transport: any Transport, engine: (any TaskExecutor)?, others: [Lanes]) {
        self.engine = engine
        self.transport = transport as? CurlTransport
        carrier = transport
        self.others = others
    }

    /// Those of the loop that a request goes over first.
    func along(_ url: URL, connectionID: String) -> Lanes {
        guard !others.isEmpty, let loops = transport?.loops else { return self }
        return others[loops.place(of: url, connectionID: connectionID)]
    }

    /// The largest body that is decoded on the engine's thread: 64 KiB take a tenth of a millisecond, about what a
    /// change of threads costs under load.
    static let decodedOnEngine = 64 << 10

    /// Runs the library's own steps, on the engine's thread if there is one.
    func onEngine<T: Sendable>(_ steps: () async throws -> T) async throws -> T {
        guard let engine else { return try await steps() }
        return try await withTaskExecutorPreference(engine, operation: steps)
    }

    /// Calls a closure on a serial queue that nobody else uses, if possible together with others.
    func complete(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        if let current = Engine.current {
            current.complete(on: queue, body)
        } else {
            queue.async(execute: body)
        }
    }

    /// Runs users' code from within the library's steps, on Swift's own threads.
    func offEngine<T: Sendable>(_ usersCode: () async throws -> T) async throws -> T {
        guard engine != nil else { return try await usersCode() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor, operation: usersCode)
    }
}
