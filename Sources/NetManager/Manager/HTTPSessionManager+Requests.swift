import Dispatch
import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import Serializers

// From a call to a request that is ready to be sent: the configuration, with the options of the call laid over it.

extension HTTPSessionManager {
    /// Makes the request of a call.
    /// - Parameters:
    ///   - call: What the caller asked for.
    ///   - snapshot: The configuration.
    ///   - streaming: How its response comes in pieces; nil where it is wanted whole.
    ///   - company: What goes along with the call.
    /// - Returns: The call, ready to be sent.
    /// - Throws: ``RequestError`` for everything that is wrong before any traffic, but for what is checked before each
    ///   transmission.
    func prepare(
        _ call: Call,
        under snapshot: Snapshot,
        streaming: TransportContext.Delivery? = nil,
        with company: CallCompany = .init()
    ) throws(RequestError) -> PreparedCall {
        var isPrepared = false
        defer { if !isPrepared { call.options.progressUpdates?.finish() } }
        let checked: RequestRules.CheckedURL
        do {
            checked = try snapshot.checkedURL(call.url)
        } catch {
            throw RequestError(.invalidURL, method: call.method, url: call.url, detail: error.reason)
        }
        // The request is kept in no variable on its way, so that it is handed on and not copied; and so is the context below.
        let prepared = try prepare(
            try request(for: call, to: checked.url, under: snapshot),
            call.options,
            under: snapshot,
            streaming: streaming,
            checked: checked,
            with: company
        )
        isPrepared = true
        return prepared
    }

    /// The request that a call asks for.
    private func request(for call: Call, to url: URL, under snapshot: Snapshot) throws(RequestError)
        -> HTTPRequest
    {
        guard snapshot.writesNothing(for: call) else {
            return try writtenRequest(for: call, to: url, under: snapshot)
        }
        return HTTPRequest(.get, url: url, headers: snapshot.completeHeaders)
    }

    @inline(never)
    private func writtenRequest(for call: Call, to url: URL, under snapshot: Snapshot) throws(RequestError)
        -> HTTPRequest
    {
        var request = HTTPRequest(call.method, url: url, headers: snapshot.configuration.headers)
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
        return request
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
        streaming: TransportContext.Delivery?,
        checked: RequestRules.CheckedURL? = nil,
        with company: CallCompany = .init()
    ) throws(RequestError) -> PreparedCall {
        var isPrepared = false
        defer { if !isPrepared { options.progressUpdates?.finish() } }
        let time = snapshot.configuration.time
        let limit = options.responseBodyLimit ?? snapshot.configuration.responseBodyLimit
        let timeout = options.timeout.map(Snapshot.nanoseconds) ?? snapshot.timeout
        let settings =
            options.changeNothing
            ? snapshot.carriage
            : snapshot.carriage(options, policy: try policy(for: request, options, snapshot))
        let now = time.moment()
        let own = options.eventMonitors
        let monitors =
            own.isEmpty ? snapshot.configuration.eventMonitors : snapshot.configuration.eventMonitors + own
        let control = company.task?.control ?? CallControl()
        if options.priority != .normal { control.priority = options.priority }
        guard let entry = calls.enter(control) else { throw RequestError(.shutDown, for: copy request) }
        isPrepared = true
        let lanes = lanes.along(request.url, connectionID: settings.connectionID)
        let recorder = company.task == nil && monitors.isEmpty ? nil : MetricsRecorder(of: control)
        let events = monitors.isEmpty ? nil : events(of: request, monitors, recorder, start: time.now())
        let steps = snapshot.steps(options)
        let credentialsOrigin =
            settings.values.authentication == nil ? nil : credentialsOrigin(for: request, options, snapshot)
        return PreparedCall(
            exchange: Exchange(
                request: consume request,
                checked: checked,
                context: TransportContext(
                    settings,
                    end: now.advanced(byNanoseconds: timeout),
                    delivery: streaming ?? .buffered(limit: limit),
                    progress: company.progress ?? options.progress,
                    progressQueue: company.progressQueue,
                    meter: meter(company, options, control),
                    metrics: recorder,
                    control: control
                ),
                control: control,
                identityAcrossOrigins: snapshot.configuration.clientIdentity,
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

    /// Where the transport writes how far a call has come; nil when nobody looks.
    private func meter(_ company: CallCompany, _ options: RequestOptions, _ control: CallControl)
        -> ProgressMeter?
    {
        guard let updates = options.progressUpdates else {
            return company.task != nil && company.writesProgress ? ProgressMeter(of: control) : nil
        }
        let meter = ProgressMeter(of: control)
        meter.tell(updates)
        return meter
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

    /// What tells the monitors of a call.
    private func events(
        of request: HTTPRequest,
        _ monitors: [any EventMonitor],
        _ recorder: MetricsRecorder?,
        start: ContinuousClock.Instant
    ) -> CallEvents {
        let events = CallEvents(request, monitors: monitors, queue: eventQueue, start: start)
        recorder?.observe { events.transferEnded($0, $1) }
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
