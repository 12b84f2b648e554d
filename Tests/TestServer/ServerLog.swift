public import FoundationEssentials
import Locks

/// What a ``TestServer`` has counted so far.
public struct Counters: Sendable, Hashable {
    /// Connections that were accepted.
    public var connections = 0
    /// Connections that are open now.
    public var openConnections = 0
    /// TLS handshakes that succeeded, resumed ones included.
    public var handshakes = 0
    /// Handshakes that resumed a session.
    public var resumptions = 0
    /// TLS handshakes that failed.
    public var failedHandshakes = 0
    /// Requests whose head was read.
    public var requests = 0
    /// Bytes received behind the TLS handshake, heads and framing included.
    public var requestBytes = 0
    /// Bytes sent behind the TLS handshake.
    public var sentBytes = 0
}

/// One connection of a ``TestServer``.
public struct ConnectionRecord: Sendable, Hashable {
    /// What a finished handshake agreed on.
    public struct TLS: Sendable, Hashable {
        /// The version.
        public var version: TLSVersion?
        /// The cipher suite by OpenSSL's name.
        public var cipherSuite: String
        /// Whether a session was resumed.
        public var isResumed: Bool
        /// The host name that the client asked for (SNI).
        public var serverName: String?
        /// The protocol that ALPN chose.
        public var applicationProtocol: String?
        /// The client's certificate, DER.
        public var clientCertificate: Data?
    }

    /// The number of the connection, from 0.
    public let id: Int
    /// The handshake's results; nil without TLS and before its end.
    public var tls: TLS?
    /// Why the handshake failed, in OpenSSL's words; nil when it did not.
    public var handshakeFailure: String?
    /// The host name of a handshake that failed.
    public var failedServerName: String?
    /// Requests whose head was read.
    public var requests = 0
    /// Bytes received behind the handshake.
    public var requestBytes = 0
    /// Bytes sent behind the handshake.
    public var sentBytes = 0
    /// Whether the connection is open still.
    public var isOpen = true
}

/// Counts, keeps and tells; used by all threads of a server.
final class ServerLog: Sendable {
    private struct State {
        var counters = Counters()
        var connections: [Int: ConnectionRecord] = [:]
        var requests: [ReceivedRequest] = []
        var observers: [Int: Observer] = [:]
        var nextObserver = 0
    }

    private struct Observer {
        let condition: @Sendable (Counters) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private let state = Guarded(State())

    var counters: Counters { state.withLock { $0.counters } }
    var connections: [ConnectionRecord] {
        state.withLock { $0.connections.values.sorted { $0.id < $1.id } }
    }
    var requests: [ReceivedRequest] { state.withLock { $0.requests } }

    func accepted(_ id: Int) {
        change {
            $0.counters.connections += 1
            $0.counters.openConnections += 1
            $0.connections[id] = ConnectionRecord(id: id)
        }
    }

    func handshakeDone(_ id: Int, _ details: ConnectionRecord.TLS) {
        change {
            $0.counters.handshakes += 1
            $0.counters.resumptions += details.isResumed ? 1 : 0
            $0.connections[id]?.tls = details
        }
    }

    func handshakeFailed(_ id: Int, serverName: String?, reason: String) {
        change {
            $0.counters.failedHandshakes += 1
            $0.connections[id]?.handshakeFailure = reason
            $0.connections[id]?.failedServerName = serverName
        }
    }

    func received(_ count: Int, on id: Int) {
        change {
            $0.counters.requestBytes += count
            $0.connections[id]?.requestBytes += count
        }
    }

    func sent(_ count: Int, on id: Int) {
        change {
            $0.counters.sentBytes += count
            $0.connections[id]?.sentBytes += count
        }
    }

    func headRead(on id: Int) {
        change {
            $0.counters.requests += 1
            $0.connections[id]?.requests += 1
        }
    }

    func requestRead(_ request: ReceivedRequest) {
        change { $0.requests.append(request) }
    }

    func ended(_ id: Int) {
        change {
            $0.counters.openConnections -= 1
            $0.connections[id]?.isOpen = false
        }
    }

    /// Waits until a condition holds; false when the time is over first.
    func until(_ condition: @escaping @Sendable (Counters) -> Bool, upTo limit: Duration) async -> Bool {
        let number = state.withLock { state in
            state.nextObserver += 1
            return state.nextObserver
        }
        let expiry = Task {
            try await Task.sleep(for: limit)
            self.expire(number)
        }
        defer { expiry.cancel() }
        return await withCheckedContinuation { continuation in
            let holds = state.withLock { state in
                let holds = condition(state.counters)
                if !holds {
                    state.observers[number] = Observer(condition: condition, continuation: continuation)
                }
                return holds
            }
            if holds { continuation.resume(returning: true) }
        }
    }

    private func expire(_ number: Int) {
        let observer = state.withLock { $0.observers.removeValue(forKey: number) }
        observer?.continuation.resume(returning: false)
    }

    /// Changes the state and wakes those whose condition holds now.
    ///
    /// Conditions are pure functions of the counters, so that asking them under the lock is harmless.
    private func change(_ body: (inout State) -> Void) {
        let ready = state.withLock { state -> [Observer] in
            body(&state)
            guard !state.observers.isEmpty else { return [] }
            let ready = state.observers.filter { $0.value.condition(state.counters) }
            for number in ready.keys { state.observers[number] = nil }
            return Array(ready.values)
        }
        for observer in ready { observer.continuation.resume(returning: true) }
    }
}
