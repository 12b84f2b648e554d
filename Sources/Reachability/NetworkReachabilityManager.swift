public import Dispatch
import Glibc
import Locks

/// Tells whether this machine has a way to other networks, and when that changes: AFNetworkReachabilityManager's place
/// on a server.
///
/// It reads the kernel's tables (rtnetlink): a machine is reachable in this sense if it has a default route over an
/// interface that is up and has a carrier. It cannot know whether a server answers, whether a name resolves, or whether
/// a firewall, a proxy or a captive portal is between; nor does it follow rules that send some traffic through other
/// tables. A machine without a default route may well reach its neighbors.
///
/// So never ask it before a request: send the request. Use it to explain a failure, and to try again when something has
/// changed.
///
/// It may be used from any thread.
public final class NetworkReachabilityManager: Sendable {
    /// A manager for those who need only one.
    public static let shared = NetworkReachabilityManager()

    private typealias Stream = AsyncStream<NetworkPath>.Continuation

    private struct State {
        var path = NetworkPath(status: .unknown)
        var monitor: NetlinkMonitor?
        var handler: Handler?
        var streams: [UInt64: Stream] = [:]
        var lastStream: UInt64 = 0
    }

    private struct Handler: Sendable {
        var queue: DispatchQueue
        var call: @Sendable (NetworkPath) -> Void
    }

    private let state = Guarded(State())

    /// Makes a manager that does not watch yet.
    public init() {}

    deinit {
        stopMonitoring()
    }

    /// What was last seen; `unknown` before ``startMonitoring(on:_:)``.
    public var path: NetworkPath { state.withLock(\.path) }

    /// Whether there is a way, of ``path``.
    public var status: NetworkPath.Status { path.status }

    /// Whether there is a way, of ``path``.
    public var isReachable: Bool { path.isReachable }

    /// Watches from now on.
    ///
    /// A second call replaces the closure.
    ///
    /// - Parameters:
    ///   - queue: Where the closure is called; a private queue by default.
    ///   - onChange: Told of the path at once, and whenever it has become another one. The default does nothing.
    /// - Throws: ``ReachabilityError`` where the kernel cannot be asked.
    public func startMonitoring(
        on queue: DispatchQueue = DispatchQueue(label: "NetManager.reachability.changes"),
        _ onChange: @escaping @Sendable (NetworkPath) -> Void = { _ in }
    ) throws(ReachabilityError) {
        // The closure is kept once there is somebody to call it: after an error it must stay silent.
        if watched == nil { try watch() }
        let handler = Handler(queue: queue, call: onChange)
        let known = state.withLock { state in
            if state.monitor != nil { state.handler = handler }
            return state.path
        }
        if known.status != .unknown { queue.async { onChange(known) } }
    }

    /// What watches; nil for nothing.
    var watched: ObjectIdentifier? { state.withLock { $0.monitor.map { ObjectIdentifier($0) } } }

    private func watch() throws(ReachabilityError) {
        let monitor = try NetlinkMonitor()
        let isFirst = state.withLock { state in
            guard state.monitor == nil else { return false }
            state.monitor = monitor
            return true
        }
        // Where another thread was faster, this one is not needed, and has not begun.
        let number = ObjectIdentifier(monitor)
        if isFirst { monitor.start { [weak self] in self?.publish($0, by: number) } }
    }

    /// Watches no more; ``path`` is unknown from now on, and sequences of changes end.
    public func stopMonitoring() {
        let (monitor, streams) = state.withLock { state in
            let old = (state.monitor, Array(state.streams.values))
            state.monitor = nil
            state.handler = nil
            state.streams = [:]
            state.path = NetworkPath(status: .unknown)
            return old
        }
        monitor?.stop()
        for stream in streams { stream.finish() }
    }

    /// The path, and each one that it becomes; begins to watch if nobody did.
    ///
    /// A slow reader gets the newest only. The sequence ends with ``stopMonitoring()``.
    ///
    /// - Returns: A sequence for one reader.
    /// - Throws: ``ReachabilityError`` where the kernel cannot be asked.
    public func changes() throws(ReachabilityError) -> AsyncStream<NetworkPath> {
        let (stream, continuation) = AsyncStream<NetworkPath>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (number, known, isWatching) = state.withLock { state in
            state.lastStream += 1
            state.streams[state.lastStream] = continuation
            return (state.lastStream, state.path, state.monitor != nil)
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
        }
        if known.status != .unknown { continuation.yield(known) }
        if !isWatching { try watch() }
        return stream
    }

    /// Looks once, without watching; takes a few system calls.
    ///
    /// - Returns: The path at this moment.
    /// - Throws: ``ReachabilityError`` where the kernel cannot be asked.
    public static func currentPath() throws(ReachabilityError) -> NetworkPath {
        try NetlinkMonitor.table().path
    }

    /// Tells of a table; of nil when the kernel cannot be asked any more, and then whoever asks next begins anew.
    func publish(_ table: NetworkTable?, by monitor: ObjectIdentifier) {
        let path = table?.path ?? NetworkPath(status: .unknown)
        let (lost, told) = state.withLock { state -> (NetlinkMonitor?, (Handler?, [Stream])?) in
            // What comes after a stop belongs to nobody, whether another one watches by now or not.
            guard state.monitor.map({ ObjectIdentifier($0) }) == monitor else { return (nil, nil) }
            let lost = table == nil ? state.monitor.take() : nil
            guard state.path != path else { return (lost, nil) }
            state.path = path
            return (lost, (state.handler, Array(state.streams.values)))
        }
        lost?.stop()
        guard let (handler, streams) = told else { return }
        if let handler { handler.queue.async { handler.call(path) } }
        for stream in streams { stream.yield(path) }
    }
}
