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
        let configuration = snapshot.configuration
        let checked: RequestRules.CheckedURL
        do {
            checked = try RequestURL.checkedURL(call.url, base: snapshot.base)
        } catch {
            throw RequestError(.invalidURL, method: call.method, url: call.url, detail: error.reason)
        }
        var request = HTTPRequest(call.method, url: checked.url, headers: configuration.headers)
        do {
            if let body = call.body {
                request.body = body
                request.headers.replace(with: call.headers)
                if !request.headers.contains("Content-Type") {
                    request.headers["Content-Type"] = body.usualType
                }
            } else if let form = call.form {
                request.headers.replace(with: call.headers)
                try put(form, call.parameters, into: &request, configuration)
            } else {
                try configuration.requestSerializer.serialize(call.parameters, into: &request)
                request.headers.replace(with: call.headers)
            }
            try configuration.requestCompression?.apply(to: &request)
        } catch {
            throw RequestError.unwritable(error, for: request)
        }
        if configuration.sendsDefaultHeaders {
            for field in DefaultHeaders.all where !request.headers.contains(field.name) {
                request.headers.add(field.value, for: field.name)
            }
        }
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
        _ configuration: Configuration
    ) throws(SerializationError) {
        var form = form
        if let parameters {
            let style = configuration.requestSerializer as? FormRequestSerializer ?? FormRequestSerializer()
            try form.prepend(parameters: parameters, arrayStyle: style.arrayStyle, boolStyle: style.boolStyle)
        }
        try form.serialize(into: &request)
    }

    /// Lays the options of a call over the configuration.
    func prepare(
        _ request: HTTPRequest,
        _ options: RequestOptions,
        under snapshot: Snapshot,
        isBuffered: Bool,
        checked: RequestRules.CheckedURL? = nil,
        completing: (inout TransportContext) -> Void = { _ in }
    ) throws(RequestError) -> PreparedCall {
        let configuration = snapshot.configuration
        let limit = options.responseBodyLimit ?? configuration.responseBodyLimit
        let timeout = min(options.timeout ?? configuration.timeout, .longest)
        let ownPolicy = try policy(for: request, options, configuration)
        var context = TransportContext(
            policy: ownPolicy ?? configuration.securityPolicy,
            policyID: ownPolicy?.policyID ?? snapshot.policyID,
            deadline: configuration.time.now().advanced(by: max(timeout, .zero))
        )
        context.clientIdentity = options.clientIdentity ?? configuration.clientIdentity
        context.progress = options.progress
        context.hostPolicies = ownPolicy == nil ? configuration.hostPolicies : nil
        context.trustObserver = configuration.trustObserver.map { observer in
            let queue = completionQueue(snapshot)
            return { report in queue.async { observer(report) } }
        }
        context.serverTrustHook = configuration.serverTrustHook
        context.delivery = isBuffered ? .buffered(limit: limit) : .streamed
        context.timeouts = options.timeouts ?? configuration.timeouts
        context.connection = options.connection ?? configuration.connection
        context.authentication = options.authentication ?? configuration.authentication
        context.maximumDecompressionRatio =
            options.maximumDecompressionRatio ?? configuration.maximumDecompressionRatio
        context.cookieJar = options.cookieJar ?? configuration.cookieJar
        completing(&context)
        let events = watch(
            request,
            &context,
            configuration.eventMonitors + options.eventMonitors,
            configuration.time
        )
        // The configuration's credentials belong to its server, whatever URL a call brings along.
        let isOwnCredentials = options.authentication != nil
        let origin = isOwnCredentials ? nil : snapshot.base?.origin
        return PreparedCall(
            exchange: Exchange(
                request: request,
                checked: checked,
                context: context,
                identityAcrossOrigins: configuration.clientIdentity,
                transport: transport,
                lanes: lanes,
                time: configuration.time,
                credentialsOrigin: origin ?? URLReference(request.url.absoluteString).origin,
                events: events
            ),
            settings: CallSettings(
                interceptors: configuration.interceptors,
                retryPolicy: options.retryPolicy ?? configuration.retryPolicy,
                redirectPolicy: options.redirectPolicy ?? configuration.redirectPolicy,
                isRepeatable: options.isRepeatable
            ),
            bodyLimit: limit
        )
    }

    /// Sees to it that monitors are told of a call; nil when there are none.
    private func watch(
        _ request: HTTPRequest,
        _ context: inout TransportContext,
        _ monitors: [any EventMonitor],
        _ time: TimeSource
    ) -> CallEvents? {
        guard !monitors.isEmpty else { return nil }
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
        _ configuration: Configuration
    ) throws(RequestError) -> SecurityPolicy? {
        if let policy = options.securityPolicy { return policy }
        guard let name = options.signature else { return nil }
        let directories = configuration.certificateDirectories
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
            validatesDomainName: configuration.signatureValidatesDomainName
        )
    }
}

extension HTTPBody {
    /// The type that goes with an upload whose caller names none.
    fileprivate var usualType: String {
        if case .file(let path) = storage { MIMETypes.type(ofFileNamed: path) } else { MIMETypes.unknown }
    }
}
