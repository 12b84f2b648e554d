import Dispatch
import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import Serializers

// From a call to a request that is ready to be sent: the configuration, with the options of the call laid over it.

extension HTTPSessionManager {
    /// Makes the request of a call.
    /// - Throws: ``RequestError`` for everything that is wrong before any traffic, but for what is checked before each
    ///   transmission.
    func prepare(
        _ call: Call,
        under snapshot: Snapshot,
        isBuffered: Bool = true,
        completing: (inout TransportContext) -> Void = { _ in }
    ) throws(RequestError) -> PreparedCall {
        var isPrepared = false
        defer { if !isPrepared { call.options.progressUpdates?.finish() } }
        let checked: RequestRules.CheckedURL
        do {
            checked = try snapshot.checkedURL(call.url)
        } catch {
            throw RequestError(.invalidURL, method: call.method, url: call.url, detail: error.reason)
        }
        var request = HTTPRequest(call.method, url: checked.url, headers: snapshot.configuration.headers)
        do {
            switch call.content {
            case .body(let body):
                request.body = body
                request.headers.replace(with: call.headers)
                if !request.headers.contains("Content-Type") {
                    request.headers["Content-Type"] = body.usualType
                }
            case .form(let form):
                request.headers.replace(with: call.headers)
                try put(form, call.parameters, into: &request, snapshot.configuration.requestSerializer)
            case nil:
                try snapshot.configuration.requestSerializer.serialize(call.parameters, into: &request)
                request.headers.replace(with: call.headers)
            }
            try snapshot.configuration.requestCompression?.apply(to: &request)
        } catch {
            throw RequestError.unwritable(error, for: request)
        }
        request.headers = snapshot.completed(request.headers)
        isPrepared = true
        return try prepare(
            request,
            call.options,
            under: snapshot,
            isBuffered: isBuffered,
            checked: checked,
            completing: completing
        )
    }

    /// Makes a form the content of a request, with the parameters as its first fields.
    ///
    /// It comes after the call's header fields: only the form's own `Content-Type` names its boundary.
    private func put(
        _ form: MultipartForm,
        _ parameters: JSONValue?,
        into request: inout HTTPRequest,
        _ serializer: any RequestSerializer
    ) throws(SerializationError) {
        var form = form
        if let parameters {
            let style = serializer as? FormRequestSerializer ?? FormRequestSerializer()
            try form.prepend(parameters: parameters, arrayStyle: style.arrayStyle, boolStyle: style.boolStyle)
        }
        try form.serialize(into: &request)
    }

    /// Lays the options of a call over the configuration.
    func prepare(
        _ request: consuming HTTPRequest,
        _ options: RequestOptions,
        under snapshot: Snapshot,
        isBuffered: Bool,
        checked: RequestRules.CheckedURL? = nil,
        completing: (inout TransportContext) -> Void = { _ in }
    ) throws(RequestError) -> PreparedCall {
        var isPrepared = false
        defer { if !isPrepared { options.progressUpdates?.finish() } }
        let time = snapshot.configuration.time
        let limit = options.responseBodyLimit ?? snapshot.configuration.responseBodyLimit
        let timeout = min(options.timeout ?? snapshot.configuration.timeout, .longest)
        let ownPolicy = try policy(for: request, options, snapshot)
        let now = time.moment()
        var context = TransportContext(
            snapshot.carriage(options, policy: ownPolicy),
            end: now.advanced(by: max(timeout, .zero))
        )
        context.progress = options.progress
        context.delivery = isBuffered ? .buffered(limit: limit) : .streamed
        completing(&context)
        if let updates = options.progressUpdates {
            let meter = context.meter ?? ProgressMeter()
            context.meter = meter
            meter.tell(updates)
        }
        let control: CallControl
        if let own = context.control {
            control = own
            if options.priority != .normal { control.priority = options.priority }
        } else {
            control = CallControl(priority: options.priority)
            context.control = control
        }
        guard let entry = calls.enter(control) else { throw RequestError(.shutDown, for: copy request) }
        isPrepared = true
        let events = watch(request, &context, options.eventMonitors, under: snapshot)
        let steps = snapshot.steps(options)
        let credentialsOrigin =
            context.settings.values.authentication == nil
            ? nil : credentialsOrigin(for: request, options, snapshot)
        return PreparedCall(
            exchange: Exchange(
                request: consume request,
                checked: checked,
                context: context,
                identityAcrossOrigins: snapshot.configuration.clientIdentity,
                transport: transport,
                lanes: lanes,
                time: time,
                start: now,
                credentialsOrigin: credentialsOrigin,
                asksAboutChallenges: steps.challengeHandler != nil,
                events: events,
                entry: entry
            ),
            steps: steps,
            bodyLimit: limit
        )
    }

    /// Where credentials may be sent: the configuration's belong to its server, whatever URL a call brings along.
    private func credentialsOrigin(
        for request: HTTPRequest,
        _ options: RequestOptions,
        _ snapshot: Snapshot
    ) -> URLReference.Origin? {
        let isOwn = options.authentication != nil
        return (isOwn ? nil : snapshot.base?.origin) ?? URLReference(request.url.absoluteString).origin
    }

    /// Sees to it that monitors are told of a call; nil when there are none.
    private func watch(
        _ request: HTTPRequest,
        _ context: inout TransportContext,
        _ own: [any EventMonitor],
        under snapshot: Snapshot
    ) -> CallEvents? {
        let monitors =
            own.isEmpty ? snapshot.configuration.eventMonitors : snapshot.configuration.eventMonitors + own
        guard !monitors.isEmpty else { return nil }
        let time = snapshot.configuration.time
        let recorder = context.metrics ?? MetricsRecorder()
        context.metrics = recorder
        let events = CallEvents(request, monitors: monitors, queue: eventQueue, start: time.now())
        recorder.observe { events.transferEnded($0, $1) }
        return events
    }

    /// The policy that a call has of its own, from its options or from a named certificate; nil for the manager's.
    private func policy(
        for request: HTTPRequest,
        _ options: RequestOptions,
        _ snapshot: Snapshot
    ) throws(RequestError) -> SecurityPolicy? {
        if let policy = options.securityPolicy { return policy }
        guard let name = options.signature else { return nil }
        let directories = snapshot.configuration.certificateDirectories
        let certificates: [Certificate]
        do {
            certificates = try Certificate.load(named: name, in: directories)
        } catch {
            throw RequestError(.certificate(error), for: request)
        }
        guard !certificates.isEmpty else {
            throw RequestError(.certificate(.notFound(name: name, searched: directories)), for: request)
        }
        return SecurityPolicy(
            pinningMode: .certificate,
            pinnedCertificates: Set(certificates),
            allowInvalidCertificates: true,
            validatesDomainName: snapshot.configuration.signatureValidatesDomainName
        )
    }
}

extension HTTPBody {
    /// The type that goes with an upload whose caller names none.
    fileprivate var usualType: String {
        if case .file(let path) = storage { MIMETypes.type(ofFileNamed: path) } else { MIMETypes.unknown }
    }
}
