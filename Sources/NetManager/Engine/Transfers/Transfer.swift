import CCurl
import CCurlShims
import FoundationEssentials
import HTTPMessage
import Locks
import SecurityPolicy

/// One request under way: a handle of libcurl's, what has arrived, and whom to tell.
///
/// Transfer+Callbacks holds what libcurl asks and tells, Transfer+Trust who may be talked to, Transfer+Outcome how it
/// ends.
final class Transfer: Numbered {
    let id: TransferID
    let plan: TransferPlan
    private let start: TransferStart
    private let surroundings: TransferSurroundings
    private(set) var handle: EasyHandle?
    // Values whose methods call nothing outside, so no access can begin inside of another, and the run time need not watch
    // for it: header lines alone make fifteen accesses a request.
    @exclusivity(unchecked) var state = TransferState()
    @exclusivity(unchecked) var clock: PhaseClock
    @exclusivity(unchecked) var headers = HeaderBlock()
    /// What the proxy answered to the request for a tunnel, where that is wanted.
    var tunnelHeaders = HeaderBlock()
    /// The head of the final response, once it is complete.
    var head: HTTPResponse.Head?
    var upload: UploadSource
    /// Where the reader of the body finds what came behind it.
    private(set) lazy var trailers = Guarded(HTTPHeaders())
    /// The whole body, when it is wanted whole.
    @exclusivity(unchecked) var collected = Data()
    /// The length that the head of the response declares; 0 without one.
    ///
    /// libcurl does not say it where it reads a stream to its end (``EasyHandle/readToEndOfStream(_:)``).
    var declaredLength: Int64 = 0
    /// How many bytes of content there will be, where somebody asks and the head says so.
    var downloadTotal: Int64?
    /// Bytes of the body to send that libcurl has taken.
    var uploaded: Int64 = 0
    /// Bytes of the body as libcurl hands them on: after decoding, unless the reader decodes.
    @exclusivity(unchecked) var decoded = 0
    /// Whether the response names a content coding: looked up once, and asked with every piece of a large body.
    var isCoded = false
    /// Whether the reader of the body undoes its content codings (DecodedBody).
    var readerDecodes = false
    /// The way of the body to its reader, once the head has been handed on.
    var channel: BodyChannel?
    var proxy = ResolvedProxy()
    /// What the connection that this transfer uses was verified with.
    var verification: TLSVerification?
    /// What the proxy that this transfer connected to was verified with.
    var proxyVerification: TLSVerification?
    /// TLS handshakes begun on the newest socket: with an https proxy the first is the proxy's.
    var handshakes = 0
    /// What the requests have in common that may share this one's connection; nil where none multiplexes.
    private(set) var route: Route?
    var place = Place.atGate
    /// What becomes of the look-up of its host's name.
    var lookUp = LookUp.none
    /// Whether the caller has paused it.
    private(set) var isPaused = false
    private var pausedAt: UInt64?
    /// The nanoseconds of the pauses that are over, together: the whole time is so much longer.
    private var pausedTime: UInt64 = 0
    /// When the whole call must have ended, pauses not counted.
    private let due: UInt64?
    /// How urgent it is, beside others that wait for a connection.
    var priority: RequestPriority
    /// Whether libcurl has had it: before, what a handle measures is another transfer's.
    var wasStarted = false
    /// The tickets that libcurl will look for, while nobody has seen to it.
    var missingTickets: [ServiceTickets.Service] = []
    /// Whether libcurl chose a connection for it that another request has to itself.
    var needsFreshConnection = false
    /// How often the program's hook was asked about its server.
    var questions = 0
    /// Whether its connection carries many requests at a time.
    var multiplexes = false
    /// Whether libcurl was kept from sending the request again, as the response that is there is the caller's.
    var keepsResponse = false
    /// Whether its reader has no room for more, so that libcurl keeps what comes.
    var isFull = false
    /// The socket that libcurl reads for it; nil where nobody needs to know.
    private var readSocket: Selector.Watched?
    /// Whether that is left alone, as the transfer is paused.
    private var holdsSocket = false
    /// The socket, where it carries many requests at a time inside of two layers of TLS (UnreadSockets).
    var layeredSocket: Int32?
    /// Whether it counts as one that may sleep on a connection that others may share.
    private var readsInLane = false
    var tlsDescription: (version: String, cipherSuite: String)?

    /// A look-up of a name.
    enum LookUp {
        /// None was needed, or it is over.
        case none
        case runs
        /// It may not begin yet (LookUps), so libcurl gives the transfer up.
        case refused
        /// It could not begin at once, and will when libcurl has the transfer again.
        case waits
    }

    /// Where a transfer is.
    enum Place {
        /// Waits for a connection to share.
        case atGate
        /// Waits for its turn, as no more connections may be made.
        case inQueue
        /// Paused before a byte of it was sent: it begins anew when it goes on.
        case parked
        /// Waits until its name may be looked up (LookUps).
        case atResolver
        /// Waits for what the program's hook says about the server (TrustChallenges).
        case atHook
        /// Waits for a Kerberos ticket (ServiceTickets).
        case atTickets
        case inLibcurl
    }

    /// Makes a transfer.
    /// - Parameters:
    ///   - start: What is to be carried, and whom to tell.
    ///   - surroundings: What it shares with all others.
    ///   - now: The time on both clocks, as of the turn that begins it.
    init(_ start: consuming TransferStart, _ surroundings: TransferSurroundings, now: PairOfClocks) {
        let plan = start.plan
        self.plan = plan
        id = plan.id
        upload = UploadSource(plan.body)
        self.surroundings = surroundings
        priority = plan.context.control?.priority ?? .normal
        let left = plan.context.end.map { UInt64(max(0, now.moment.nanoseconds(to: $0))) }
        let end = left.map { now.nanoseconds &+ $0 }
        // The whole of a stream has no end that could be told beforehand; its head has.
        let isStreamed = plan.context.delivery.isStreamed
        due = isStreamed ? nil : end
        clock = PhaseClock(
            limits: isStreamed ? plan.context.limits : plan.context.limits.shorter(than: left),
            headDeadline: isStreamed ? end : nil,
            now: MonotonicClock.nanoseconds
        )
        self.start = consume start
    }

    var reply: TransferReply { start.reply }
    var owner: any AnyObject & Sendable { start.owner }
    var engine: Engine { surroundings.engine }
    var outbox: Outbox { surroundings.outbox }
    var early: EarlyAnswers { surroundings.early }
    var challenges: TrustChallenges { surroundings.challenges }
    var verdicts: VerdictMemory { surroundings.verdicts }

    /// Tells a handle what to do.
    /// - Parameters:
    ///   - handle: The handle.
    ///   - routes: Those of others.
    /// - Throws: What the handle cannot be told, and what forbids to send the request.
    func attach(_ handle: EasyHandle, _ routes: inout RouteTable) throws(TransferFailure) {
        proxy = try handle.apply(plan)
        if handle.applied.isSecure || proxy.policy != nil {
            guard CurlLibrary.usesOpenSSL else { throw .unsuitableTLSLibrary(CurlLibrary.tlsLibrary) }
        }
        if !handle.applied.isSecure, plan.context.settings.isPinned { throw .pinnedWithoutTLS }
        if handle.applied.isSecure {
            if plan.body.hasTrailers || handle.applied.hasOwnConnection {
                try handle.keep(toLane: Route.withoutMultiplexing)
            } else {
                try takeRoute(handle, &routes)
            }
        }
        missingTickets = neededTickets(for: handle)
        handle.transfer = self
        self.handle = handle
        if case .channel(let channel) = plan.body {
            channel.begin { [engine, id] in
                engine.post(.resume(id))
            } fail: { [engine, id] failure in
                engine.post(.fail(id, failure))
            }
        }
    }

    private func takeRoute(_ handle: EasyHandle, _ routes: inout RouteTable) throws(TransferFailure) {
        let own: Route
        if let kept = handle.applied.route, kept.isKnown {
            own = kept
        } else {
            own = routes.known(ownRoute(handle))
        }
        // Without settings, the next request of the handle may have others.
        if handle.applied.settings != nil { handle.applied.route = own }
        readsInLane = plan.context.delivery == .streamed
        let route = own.enterLane(reads: readsInLane, most: surroundings.streamConnections)
        self.route = route === own ? own : routes.known(route)
        try handle.keep(toLane: route.lane)
    }

    private func ownRoute(_ handle: EasyHandle) -> Route {
        Route(
            host: handle.applied.host,
            port: handle.applied.port,
            policyID: plan.policyID,
            proxy: proxy,
            connection: plan.context.connection
        )
    }

    func beginLookUp() -> Bool {
        surroundings.lookUps.begin()
    }

    /// Its name is not looked up any more, or nobody waits for the answer.
    func endLookUp(isAbandoned: Bool) {
        defer { lookUp = .none }
        guard lookUp == .runs else { return }
        if isAbandoned {
            surroundings.lookUps.abandon(now: MonotonicClock.nanoseconds)
        } else {
            surroundings.lookUps.end()
        }
    }

    /// Gives the handle back.
    func detach() -> EasyHandle? {
        // The next one on the connection is not to find its socket held.
        releaseSocket()
        leaveConnection()
        // What libcurl (7.88) keeps of a body that is paused stays with the handle where others use the connection, and
        // would come with the body of its next request.
        if isFull || isPaused { handle?.isWornOut = true }
        defer { handle = nil }
        handle?.transfer = nil
        return handle
    }

    /// The connection is there.
    func isConnected(multiplexing: Bool) {
        multiplexes = multiplexing
        surroundings.connected.add(self)
    }

    /// Forgets a handshake after which the program's hook had to be asked; nothing of the request was sent.
    func beginAnew() {
        handle?.clearErrorMessage()
        tunnelHeaders = HeaderBlock()
        leaveConnection()
        verification = nil
        readSocket = nil
        holdsSocket = false
        proxyVerification = nil
        handshakes = 0
        tlsDescription = nil
        clock.enter(.queue, now: MonotonicClock.nanoseconds)
    }

    /// Where it goes, as libcurl counts connections; nil before it has a handle.
    var host: ConnectionQueue.Host? {
        handle.map { ConnectionQueue.Host(name: $0.applied.host, port: $0.applied.port, proxy: proxy.url) }
    }

    /// When the whole call must have ended, in nanoseconds of the monotonic clock; nil for never, as for a stream.
    ///
    /// libcurl is not told: it would look after two timers more for each request, and a pause prolongs the time.
    var end: UInt64? { due.map { $0 &+ pausedTime } }

    /// Whether the whole call has taken too long; a pause is not counted.
    func isOverdue(now: UInt64) -> Bool {
        guard !isPaused, let end else { return false }
        return end <= now
    }

    /// The caller pauses it.
    func pause() {
        let now = MonotonicClock.nanoseconds
        isPaused = true
        pausedAt = now
        clock.pause(now: now)
        guard place == .inLibcurl, let handle else { return }
        holdSocket()
        // CURLPAUSE_ALL: both directions.
        curl_easy_pause(handle.pointer, CURLPAUSE_RECV | CURLPAUSE_SEND)
    }

    /// The caller lets it go on.
    func goOn() {
        isPaused = false
        let now = MonotonicClock.nanoseconds
        if let pausedAt { pausedTime += now &- pausedAt }
        pausedAt = nil
        clock.goOn(now: now)
        // CURLPAUSE_CONT: a direction that has to wait for other reasons says so when it is asked.
        if place == .inLibcurl, let handle {
            // What the reader said meanwhile was not heard.
            isFull = false
            releaseSocket()
            curl_easy_pause(handle.pointer, 0)
        }
    }

    /// Goes on with whatever direction was paused.
    func resume() {
        guard let handle, !isPaused else { return }
        clock.beat(now: MonotonicClock.nanoseconds)
        isFull = false
        releaseSocket()
        // CURLPAUSE_CONT: libcurl may hand over the bytes it held back before this returns.
        curl_easy_pause(handle.pointer, 0)
    }

    /// Keeps libcurl from reading while this transfer is paused, where it does not keep itself from it.
    ///
    /// Over HTTP/2 others share the socket: libcurl reads it for them, and does not begin for this one's sake.
    func holdSocket() {
        if multiplexes, !readsInLane, let route {
            readsInLane = true
            route.readsInLane()
        }
        guard CurlLibrary.readsWhilePaused, state.hasStarted, !multiplexes, !holdsSocket else { return }
        holdsSocket = true
        if let readSocket { handle?.selector.hold(readSocket) }
    }

    /// Lets nothing be read until the reader has made room for another read, before libcurl has bytes that find none.
    ///
    /// On a connection that others may share, libcurl is paused with the next bytes.
    func waitForReader() {
        clock.hold()
        // What is complete is to end, and not to wait.
        let isComplete = declaredLength > 0 && decoded >= declaredLength
        guard !multiplexes, !holdsSocket, !isComplete, let handle, let readSocket else { return }
        holdsSocket = true
        handle.selector.hold(readSocket)
        guard CurlLibrary.readsUntilDry, handle.applied.receivesInBulk, hasSentAll else { return }
        // Both directions, as libcurl would read once more to see whether the one that is not paused has something to do.
        curl_easy_pause(handle.pointer, CURLPAUSE_RECV | CURLPAUSE_SEND)
    }

    /// Gives up its place on the connection.
    func leaveLane() {
        route?.leaveLane(reads: readsInLane)
    }

    private func releaseSocket() {
        guard holdsSocket else { return }
        holdsSocket = false
        if let readSocket { handle?.selector.release(readSocket) }
    }

    /// libcurl waits for a socket on behalf of this transfer.
    func isRead(from socket: Selector.Watched) {
        readSocket = socket
        if holdsSocket { handle?.selector.hold(socket) }
    }
}
