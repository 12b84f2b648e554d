import FoundationEssentials
public import HTTPMessage
import SecurityPolicy
import Synchronization

/// The transport over the system's libcurl: HTTP/1.1 and HTTP/2, connections kept and shared.
///
/// One thread owns every libcurl object, or one for each of several ``Configuration/loops``; it begins with the first
/// request and ends with ``shutdown()`` or with the last reference to the transport. Connections and TLS sessions are shared by requests whose policies are equal,
/// and by no others. Many managers may share a transport.
public final class CurlTransport: Transport, ExecutorProviding, ConnectionKeeping {
    /// The transport that managers use when they are given none; it lives as long as the process.
    public static let shared = CurlTransport()

    /// How a transport keeps connections.
    public struct Configuration: Sendable, Hashable {
        /// The most connections to one host, 0 for any number; further requests wait.
        ///
        /// CURLMOPT_MAX_HOST_CONNECTIONS; 0 by default.
        public var maximumConnectionsPerHost = 0
        /// The most connections at all, 0 for any number; further requests wait.
        ///
        /// CURLMOPT_MAX_TOTAL_CONNECTIONS; 0 by default.
        public var maximumConnections = 0
        /// How many responses over HTTP/2 that are read as streams have a connection to themselves, for each server and
        /// policy; further ones share those connections.
        ///
        /// 64 by default. A reader that sleeps then holds no more than the watermark, as nobody else's reading brings it
        /// bytes, and other requests, which share one connection, never wait behind it. With 0 all share one: libcurl
        /// then keeps up to its window (7.88: 32 MiB, 8.5: 10 MiB) for each reader that sleeps beside others. The same is
        /// so where connections are limited. Over HTTP/1.1 each request has a connection to itself in any case.
        public var maximumStreamConnectionsPerHost = 64
        /// The most idle connections that are kept; 0 lets libcurl keep four for each request under way.
        ///
        /// CURLMOPT_MAXCONNECTS; 0 by default.
        public var maximumIdleConnections = 0
        /// How long an idle connection may be used again, in whole seconds.
        ///
        /// CURLOPT_MAXAGE_CONN; 118 seconds by default, libcurl's own value: below the two minutes after which many
        /// middle boxes forget a connection.
        public var idleTimeout: Duration = .seconds(118)
        /// How many chains that challenge hooks let pass are remembered; at least one.
        package var rememberedChallenges = 256

        /// How old a connection may be to carry another request, in whole seconds; nil, the default, for any age.
        ///
        /// CURLOPT_MAXLIFETIME_CONN. With it, clients notice in time that a name has other addresses or a balancer other
        /// servers. A request that is under way is not cut off, and a connection that is never without one stays in use.
        /// Less than a second counts as one.
        public var maximumConnectionLifetime: Duration?

        /// How many threads carry requests; 1 by default, at most 256, and no more than ``maximumConnections``.
        ///
        /// One carries thousands of requests at a time, and ten thousand small ones in a second with a fifth of a core; more
        /// are for a program that fills one. Requests that could share a connection, those to the same host and port
        /// under the same policy, go over one loop, and each new host gets the next loop: requests to a single host use a
        /// single loop. ``maximumConnections`` and ``maximumIdleConnections`` are divided among the loops. A loop begins
        /// its thread with its first request.
        public var loops = 1

        /// Makes a configuration of the defaults.
        public init() {}
    }

    /// The engine, or the first of several.
    let engine: Engine
    /// All engines, where there are several.
    let loops: Loops?

    /// Makes a transport with connections of its own.
    public init(_ configuration: Configuration = .init()) {
        // Before anything asks OpenSSL for the first time: a policy's identity is a digest.
        CurlLibrary.prepare()
        loops = configuration.usableLoops > 1 ? Loops(configuration) : nil
        engine = loops?.engines[0] ?? Engine(configuration: configuration)
    }

    /// Makes a transport with connections of its own that several threads carry.
    /// - Parameter loops: How many (``Configuration/loops``).
    public convenience init(loops: Int) {
        var configuration = Configuration()
        configuration.loops = loops
        self.init(configuration)
    }

    deinit {
        for engine in engines { engine.stop() }
    }

    /// All that there are.
    var engines: [Engine] { loops?.engines ?? [engine] }

    /// The one that a plan goes over.
    @inline(__always)
    private func engine(of plan: TransferPlan) -> Engine {
        guard let loops else { return engine }
        return loops.engines[loops.place(of: plan.url, connectionID: plan.policyID)]
    }

    package var executor: any TaskExecutor { engine }

    /// Sends a request once (see ``Transport``).
    public func send(_ request: HTTPRequest, context: TransportContext) async throws -> StreamedResponse {
        let body: UploadPlan
        if case .file = request.body?.storage {
            body = try await openedFile(of: request, context: context)
        } else {
            body = try UploadPlan(request.body, method: request.method)
        }
        let plan = try TransferPlan(request, body: body, context: context)
        try Task.checkCancellation()
        return try await answer(to: plan).takeStreamed()
    }

    /// Carries a plan out.
    ///
    /// The task waits where its caller is, so that the answer comes straight to it: a caller on the engine's thread
    /// changes no thread at all, and any other one changes once.
    @inline(__always)
    func answer(to plan: TransferPlan) async throws -> TransferAnswer {
        try await withTaskCancellationHandler {
            try await Handover.value { continuation in
                let engine = engine(of: plan)
                start(plan, .task(continuation, staysOnEngine: engine.isCurrentThread), on: engine)
            }
        } onCancel: {
            cancel(plan)
        }
    }

    /// Begins to carry a plan out; the reply gets its answer, once, also when nothing can be carried any more.
    func start(_ plan: TransferPlan, _ reply: consuming TransferReply) {
        start(plan, reply, on: engine(of: plan))
    }

    private func start(_ plan: TransferPlan, _ reply: consuming TransferReply, on engine: Engine) {
        let refused = engine.post(TransferStart(plan: plan, reply: reply, owner: self))
        if let refused { refused.reply.resume(throwing: refusal(of: plan, by: engine)) }
        // After the start, so that what it is told comes after that.
        plan.context.control?.attach(TransferOrders(engine: engine, id: plan.id))
    }

    /// Why nothing is carried any more.
    private func refusal(of plan: TransferPlan, by engine: Engine) -> any Error {
        guard engine.isOrphaned else { return plan.error(.shutDown) }
        let reason = "the process was forked after the transport had begun; a child needs one of its own"
        return plan.error(.shutDown, detail: reason)
    }

    /// Ends what a plan has begun; nothing happens when it has ended already.
    func cancel(_ plan: TransferPlan) {
        plan.cancel()
        engine(of: plan).post(.cancel(plan.id))
    }

    /// Opens a file away from the engine's thread, on which the caller may be.
    private func openedFile(of request: HTTPRequest, context: TransportContext) async throws -> UploadPlan {
        do {
            return try await withTaskExecutorPreference(globalConcurrentExecutor) {
                try UploadPlan(request.body, method: request.method)
            }
        } catch let failure as TransferFailure {
            let plan = try TransferPlan(request, body: .none, context: context)
            throw failure.error(for: plan, phase: nil, response: nil)
        }
    }
}
