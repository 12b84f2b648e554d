import Dispatch
import FoundationEssentials
import Locks
public import SecurityPolicy

/// Makes HTTP requests: with closures, as AFNetworking does, or with `await`.
///
/// A manager may be used from any thread. It is cheap and holds no connections: those belong to the transport, which
/// managers share, and are kept apart by security policy. Dropping a manager does not end its calls.
public final class HTTPSessionManager: Sendable {
    /// A manager of the default configuration for those who need only one.
    public static let shared = HTTPSessionManager()

    let transport: any Transport
    let lanes: Lanes
    let calls = CallRegistry()
    /// Where event monitors are told.
    let eventQueue = DispatchQueue(label: "NetManager.events")
    private let ownQueue = DispatchQueue(label: "NetManager.completion")
    private let state: Guarded<Snapshot>

    /// Makes a manager.
    /// - Parameters:
    ///   - configuration: What it goes by; it can be changed later.
    ///   - transport: What carries the requests; by default libcurl, over the connections that all managers share.
    public init(_ configuration: Configuration = .init(), transport: any Transport = CurlTransport.shared) {
        self.transport = transport
        lanes = Lanes(transport)
        state = Guarded(Snapshot(configuration, ownQueue: ownQueue))
    }

    /// The thread of the transport, the first where it has several ``CurlTransport/Configuration/loops``, for tasks that
    /// would rather share it than be woken on another one; nil where the transport has none, which then changes nothing.
    ///
    /// ```swift
    /// try await withTaskExecutorPreference(manager.executor) {
    ///     try await manager.get("users")
    /// }
    /// ```
    ///
    /// A request then changes threads not once. With one small request after the other that saves a sixth of its CPU; with
    /// many at a time nothing, as their tasks are woken together anyway. All requests of the transport wait while a task
    /// runs there: never block on it, and compute no longer than some microseconds at a time.
    /// Serializers of the calls that are made there run there too. The library moves nobody there who does not ask.
    public var executor: (any TaskExecutor)? { lanes.engine }

    /// What the manager goes by.
    ///
    /// Reading and setting are each one step. Changing a member in place is a read and a set, between which another
    /// thread's change can be lost; ``updateConfiguration(_:)`` loses none.
    public var configuration: Configuration {
        get { snapshot.configuration }
        set { replaceSnapshot(by: Snapshot(newValue, ownQueue: ownQueue)) }
    }

    /// What a server must prove, of ``configuration``.
    ///
    /// Nothing is checked when it is set: each request is judged by its own URL. Connections that were made under
    /// another policy are not used under this one.
    public var securityPolicy: SecurityPolicy {
        get { snapshot.configuration.securityPolicy }
        set { updateConfiguration { $0.securityPolicy = newValue } }
    }

    /// Changes the configuration in one step, whatever other threads change meanwhile.
    /// - Parameter change: The change. It is called without a lock held, and again when another thread was faster.
    public func updateConfiguration(_ change: (inout Configuration) -> Void) {
        while true {
            let before = snapshot
            var configuration = before.configuration
            change(&configuration)
            let after = Snapshot(configuration, ownQueue: ownQueue)
            let isDone = state.withLock { current in
                guard current === before else { return false }
                current = after
                return true
            }
            if isDone { return }
        }
    }

    /// The configuration at this moment, for one call.
    var snapshot: Snapshot { state.withLock { $0 } }

    private func replaceSnapshot(by new: Snapshot) {
        // The old one is let go of after the lock: its interceptors may run anything when they go.
        let old = state.withLock { current in
            let old = current
            current = new
            return old
        }
        withExtendedLifetime(old) {}
    }
}
