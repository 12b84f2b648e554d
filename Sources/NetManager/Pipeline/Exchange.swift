import FoundationEssentials
import HTTPMessage
import Locks
import SecurityPolicy
import Synchronization

/// One call on its way: what stays the same over all its attempts and redirects, and the last step before the
/// transport.
final class Exchange: Sendable {
    /// The request as the manager made it, before any interceptor, and how each attempt is to be carried, but for its
    /// number: the plan of the first transmission, where nothing is to be added, so that neither is copied for it.
    private let draft: TransferPlan
    /// The request as the manager made it, before any interceptor.
    var request: HTTPRequest { draft.request }
    /// How each attempt is to be carried, but for its number.
    var context: TransportContext { draft.context }
    /// Whether the request's URL is one of https; nil where it was not checked when the request was made.
    private let isSecure: Bool?
    /// Whether the request is one that nothing can be found wrong with, and carried as all others: a GET without content, of
    /// a URL and header fields that were checked, under settings that are for all requests and that a server can meet.
    private let isBeyondDoubt: Bool
    /// What takes the place of the context's client identity at other origins than the first.
    let identityAcrossOrigins: ClientIdentity?
    /// What carries the requests, and who runs the steps.
    let lanes: Lanes
    let time: TimeSource
    /// Tells the monitors; nil when there are none.
    let events: CallEvents?
    /// What the call is told from outside.
    let control: CallControl
    /// Where the call is listed while it is under way.
    private let entry: CallRegistry.Entry?
    /// What the challenges of this call were answered with; nil when no handler is asked.
    ///
    /// Where one is, no credentials are sent before it was.
    let challenges: ChallengeAnswers?
    /// Where the context's credentials may be sent; nil for nowhere.
    private let credentialsOrigin: URLReference.Origin?

    // What has happened so far: numbers, as a lock and what lies behind it would be one more block of memory of each call.
    private let handedOver = Atomic<Int>(0)
    private let unrepeatable = Atomic<Int>(0)
    private let hasSentOneShotBody = Atomic<Bool>(false)
    private let hasFailedToIdentify = Atomic<Bool>(false)
    /// Whether the monitors have been told of the beginning and not of the end.
    private let isTold = Atomic<Bool>(false)
    private let hasLeft = Atomic<Bool>(false)
    private let detour = AtomicLazyReference<Detour>()
    /// Whether there is one, as looking at the reference goes through the metadata of its type.
    private let hasDetour = Atomic<Bool>(false)

    /// What is kept of a call that is sent with another method than its own, or may not show its identity everywhere.
    private final class Detour: Sendable {
        struct State {
            var lastMethod: HTTPMethod?
            /// Of the request that was sent first.
            var firstOrigin: URLReference.Origin?
        }

        let state = Guarded(State())
    }

    private let start: Moment

    init(
        request: consuming HTTPRequest,
        checked: RequestRules.CheckedURL? = nil,
        context: consuming TransportContext,
        control: CallControl,
        identityAcrossOrigins: ClientIdentity?,
        lanes: Lanes,
        time: TimeSource,
        start: Moment? = nil,
        credentialsOrigin: URLReference.Origin? = nil,
        asksAboutChallenges: Bool = false,
        events: CallEvents? = nil,
        entry: CallRegistry.Entry? = nil
    ) {
        isSecure = checked.flatMap { $0.url == request.url ? $0.isSecure : nil }
        // Not compared with nil, for which it would be copied.
        let isPlainGet = if case nil = request.body, request.method == .get { true } else { false }
        let settings = context.settings
        isBeyondDoubt =
            isPlainGet && !asksAboutChallenges && context.progress == nil && settings.areForAllRequests
            && isSecure.map { settings.canBeMet(isSecure: $0) } == true && settings.knows(request.headers)
        let body = isPlainGet ? .none : UploadPlan(inMemory: request.body, method: request.method)
        draft = TransferPlan(
            unchecked: consume request,
            body: body,
            context: consume context,
            reportsProgress: false
        )
        self.control = control
        self.identityAcrossOrigins = identityAcrossOrigins
        self.lanes = lanes
        self.time = time
        self.credentialsOrigin = credentialsOrigin
        challenges = asksAboutChallenges ? ChallengeAnswers() : nil
        self.events = events
        self.entry = entry
        self.start = start ?? time.moment()
    }

    /// How often something was handed to the transport.
    var attempts: Int { handedOver.load(ordering: .relaxed) }

    /// Whether the newest refusal came from a server that had asked for a client certificate and got none.
    ///
    /// Many servers, nginx among them, finish the handshake nevertheless and say it with a status.
    var lacksClientCertificate: Bool { hasFailedToIdentify.load(ordering: .relaxed) }

    /// The method of the request that was sent last: a redirect may have changed it.
    var lastMethod: HTTPMethod {
        guard hasDetour.load(ordering: .acquiring) else { return request.method }
        return changeDetour { $0.lastMethod } ?? request.method
    }

    private func changeDetour<Result>(_ change: (inout Detour.State) -> Result) -> Result {
        let detour = detour.storeIfNil(Detour())
        hasDetour.store(true, ordering: .releasing)
        return detour.state.withLock(change)
    }

    /// How often something was handed to the transport that must not be sent twice: a hook may turn a read into a
    /// write, and a redirect may leave the `Idempotency-Key` behind.
    var unrepeatableAttempts: Int { unrepeatable.load(ordering: .relaxed) }

    /// Hands one request to the transport, once; every retry and redirect comes through here.
    ///
    /// What may not be sent is refused here and not only at the beginning, as interceptors and redirects make requests
    /// of their own.
    func send(_ request: HTTPRequest) async throws -> StreamedResponse {
        if control.isPaused { try await control.untilGoingOn() }
        var context = context
        try admit(request, &context)
        if events == nil { return try await carry(request, context) }
        return try await carryTelling(request, context)
    }

    private func carryTelling(_ request: HTTPRequest, _ context: TransportContext) async throws
        -> StreamedResponse
    {
        guard let events else { return try await carry(request, context) }
        let attempt = context.attempt
        events.attemptStarted(attempt, request)
        do {
            let response = try await carry(request, context)
            events.attemptAnswered(attempt, response)
            return response
        } catch {
            events.attemptFailed(attempt, request, RequestError.made(from: error, of: self))
            throw error
        }
    }

    /// Decides whether a request may be handed to the transport, counts it, and says how it is to be carried: the context
    /// of the call becomes that of this transmission.
    /// - Parameters:
    ///   - request: The request.
    ///   - context: How it is to be carried.
    ///   - now: The time; nil to look at the clock.
    /// - Throws: What forbids to send it.
    @inline(never)
    private func admit(_ request: HTTPRequest, _ context: inout TransportContext, now: Moment? = nil) throws {
        try Task.checkCancellation()
        let (isShutDown, _, pausedTime) = control.look
        guard !isShutDown else { throw RequestError(.shutDown, for: request, attempt: attempts) }
        try context.judge(request)
        context.end = context.end?.advanced(byNanoseconds: pausedTime)
        let isKnown = isSecure != nil && request.url == self.request.url
        try RequestRules.check(request, settings: context.settings, isSecure: isKnown ? isSecure : nil)
        let isOneShot = request.body.map { !$0.isReplayable } ?? false
        let isUnrepeatable = !request.method.isIdempotent && !request.headers.contains("Idempotency-Key")
        guard !isOneShot || !hasSentOneShotBody.exchange(true, ordering: .relaxed) else {
            let reason = "The body is a stream, which can be sent once, and has been sent."
            throw RequestError(
                .invalidRequest(reason),
                for: request,
                attempt: attempts,
                underlying: UnsendableBody()
            )
        }
        let attempt = handedOver.wrappingAdd(1, ordering: .relaxed).newValue
        if isUnrepeatable { unrepeatable.wrappingAdd(1, ordering: .relaxed) }
        if hasDetour.load(ordering: .acquiring) || request.method != self.request.method {
            changeDetour { $0.lastMethod = request.method }
        }
        if let end = context.end, now ?? time.moment() >= end {
            throw RequestError(.timedOut(.total), for: request, attempt: attempt - 1)
        }
        context.attempt = attempt
        if let identity = context.clientIdentity, identity != clientIdentity(for: request) {
            context.clientIdentity = identityAcrossOrigins
        }
        let credential = credential(for: request)
        if context.authentication != credential { context.authentication = credential }
        if let challenges {
            context.asksAboutProxyChallenges = true
            if let answer = challenges.credentialForProxy {
                var credentials = Proxy.Credentials(user: answer.user, password: answer.password)
                credentials.schemes = answer.schemes
                context.connection.proxy.credentials = credentials
            }
        }
    }

    /// The plan of the one transmission of a call without steps; nil when its content is not in memory, or the call is
    /// paused.
    func plan() throws -> TransferPlan? {
        if case .some(let body) = draft.request.body {
            guard case .data = body.storage else { return nil }
        }
        let (isShutDown, isPaused, pausedTime) = control.look
        guard !isPaused else { return nil }
        // The first transmission of a call that was not paused is as the draft says, unless something depends on where it goes.
        guard isBeyondDoubt, attempts == 0, pausedTime == 0 else {
            var context = context
            // Nothing has been waited for since the call began.
            try admit(request, &context, now: start)
            return try TransferPlan(request, body: draft.body, context: consume context, isChecked: true)
        }
        try Task.checkCancellation()
        guard !isShutDown else { throw RequestError(.shutDown, for: request, attempt: attempts) }
        handedOver.store(1, ordering: .relaxed)
        if let end = context.end, start >= end { throw RequestError(.timedOut(.total), for: request) }
        return draft
    }

    @inline(__always)
    private func carry(_ request: HTTPRequest, _ context: TransportContext) async throws -> StreamedResponse {
        let response = try await lanes.carrier.send(keepingBodyOffEngine(request), context: context)
        note(response)
        guard case .buffered(let limit) = context.delivery else { return response }
        if let body = response.body.dataInMemory, body.count <= limit { return response }
        return try await collected(response, of: request, attempt: context.attempt, limit)
    }

    /// Keeps what an answer says beyond itself.
    private func note(_ response: StreamedResponse) {
        guard response.head.status >= 400 else { return }
        hasFailedToIdentify.store(response.lacksClientCertificate, ordering: .relaxed)
    }

    /// Keeps what the answer to the one transmission of a call without steps says beyond itself.
    /// - Returns: False when the answer leads elsewhere.
    func settles(_ answer: TransferAnswer) -> Bool {
        guard !answer.isStreamed, !RedirectInterceptor.isRedirect(answer.status) else { return false }
        if answer.status >= 400 {
            hasFailedToIdentify.store(answer.remarks.lacksClientCertificate, ordering: .relaxed)
        }
        // Of content that came something was written with each piece.
        if answer.bodyCount == 0 { context.meter?.settle(download: 0) }
        return true
    }

    /// A response whose content has been read.
    // Not inlined, as what it holds for a moment would be part of what every waiting call holds.
    @inline(never)
    func whole(_ response: StreamedResponse, _ body: Data) -> TransferAnswer {
        context.meter?.settle(download: Int64(body.count))
        var whole = HTTPResponse(head: response.head, body: body, requestMethod: lastMethod)
        whole.redirects = response.redirects
        whole.trailers = response.body.trailers
        return TransferAnswer(whole: whole, ResponseRemarks())
    }

    /// What a request is sent with, if the server asks for it.
    private func credential(for request: HTTPRequest) -> Authentication? {
        guard let challenges else { return ownCredential(for: request) }
        return URLReference(request.url.absoluteString).origin.flatMap { challenges.credential(at: $0) }
    }

    /// The call's or the manager's credentials, where the request's origin is theirs; nil elsewhere.
    func ownCredential(for request: HTTPRequest) -> Authentication? {
        guard let own = context.authentication, let credentialsOrigin,
            URLReference(request.url.absoluteString).origin == credentialsOrigin
        else { return nil }
        return own
    }

    /// When the whole call must have ended, the time that it was paused not counted.
    var deadline: Moment? { context.end?.advanced(byNanoseconds: control.pausedTime) }

    deinit {
        left()
        // A call that its owner dropped, such as an iterator that is not asked any more.
        if events != nil { ended(nil, RequestError(.cancelled, for: request, attempt: attempts)) }
    }

    /// Tells the monitors that the call begins.
    func began() {
        guard let events else { return }
        isTold.store(true, ordering: .relaxed)
        events.tell { $0.callStarted($1) }
        control.observePauses(events.paused)
    }

    /// The caller has the outcome: nobody waits for this call any more.
    /// - Parameter tellsProgress: Whether those who follow the call's progress are still to be told.
    func left(tellsProgress: Bool = true) {
        guard !hasLeft.exchange(true, ordering: .relaxed) else { return }
        if tellsProgress { context.meter?.finish() }
        entry?.leave(control)
    }

    /// Tells the monitors that the call is over, once.
    /// - Parameters:
    ///   - head: The head of the response; nil when there was none.
    ///   - error: What the caller is told; nil for a success.
    ///   - isDelivered: Whether the caller has the outcome by now, or else tells ``left()`` when it has.
    func ended(_ head: HTTPResponse.Head?, _ error: RequestError?, isDelivered: Bool = true) {
        if isDelivered { left() }
        guard let events else { return }
        guard isTold.exchange(false, ordering: .relaxed) else { return }
        control.observePauses(nil)
        let end = CallEnd(
            head: head ?? error?.response?.head,
            error: error,
            attempts: attempts,
            metrics: context.metrics?.metrics ?? [],
            duration: start.duration(to: time.moment())
        )
        events.ended(end)
    }

    /// The client identity for a request: one that was given with the call stays with the origin that the call was
    /// made to, whoever redirects it.
    private func clientIdentity(for request: HTTPRequest) -> ClientIdentity? {
        guard let own = context.clientIdentity, own != identityAcrossOrigins else {
            return context.clientIdentity
        }
        guard let origin = URLReference(request.url.absoluteString).origin else {
            return identityAcrossOrigins
        }
        let isFirst = changeDetour { state in
            let first = state.firstOrigin ?? origin
            state.firstOrigin = first
            return first == origin
        }
        return isFirst ? own : identityAcrossOrigins
    }

    /// Reads the content here when it is wanted whole, so that a connection that breaks in its middle is one of the
    /// failures that a retry sees.
    private func collected(
        _ response: StreamedResponse,
        of request: HTTPRequest,
        attempt: Int,
        _ limit: Int
    ) async throws -> StreamedResponse {
        do {
            var response = response
            response.body = response.body.read(as: try await response.body.collect(upTo: limit))
            return response
        } catch is BodyTooLarge {
            let head = HTTPResponse(head: response.head, requestMethod: request.method)
            throw RequestError(
                .bodyTooLarge,
                for: request,
                attempt: attempt,
                response: head,
                detail: "The limit is \(limit) bytes."
            )
        }
    }

    /// Sees to it that a sequence that a user wrote is drawn on Swift's own threads, wherever the transport draws.
    @inline(never)
    private func keepingBodyOffEngine(_ request: HTTPRequest) -> HTTPRequest {
        guard lanes.engine != nil, let body = request.body else { return request }
        let lanes = lanes
        func moved(_ pieces: @escaping HTTPBody.Pieces) -> HTTPBody.Pieces {
            {
                let producer = pieces()
                return HTTPBody.Producer { try await lanes.offEngine { try await producer.next() } }
            }
        }
        var request = request
        switch body.storage {
        case .data, .file: break
        case .stream(let length, let pieces):
            var trailers: HTTPBody.Trailers?
            if let make = body.trailers {
                trailers = { try await lanes.offEngine { try await make() } }
            }
            request.body = HTTPBody(storage: .stream(length: length, moved(pieces)), trailers: trailers)
        case .replayableStream(let length, let pieces):
            request.body = HTTPBody(storage: .replayableStream(length: length, moved(pieces)))
        }
        return request
    }
}
