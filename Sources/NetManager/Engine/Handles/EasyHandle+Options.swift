import CCurl
import CCurlShims
import FoundationEssentials
import HTTPMessage
import SecurityPolicy
import Serializers

/// What an easy handle has been told; nil for what it has not.
struct AppliedOptions {
    /// What was applied last of what requests have in common, and what followed from it.
    ///
    /// Their number and not they themselves: an idle handle must not keep what users put into them.
    struct Settings {
        let number: UInt64
        let isSecure: Bool
        let host: String
        let proxy: ResolvedProxy
    }

    var settings: Settings?
    /// The route of the request before, where the next one has the same settings and origin.
    var route: Route?
    var url: URL?
    var isSecure = false
    var host = ""
    var port = 0
    /// What `Host` says for this origin, where it is written without libcurl; nil where libcurl is to write it.
    var hostField: String?
    /// Whether the request before had the same origin: the next one will have it too, and saves what the list took.
    var staysAtOrigin = false
    var headers: HTTPHeaders?
    /// Whether they begin with `Host`.
    var headersNameHost = false
    var headersAreForBody: Bool?
    var headersAreForStream: Bool?
    /// Whether content codings are asked for that libcurl does not undo.
    var decodesAtReader: Bool?
    var method: HTTPMethod?
    var hasBody: Bool?
    var policyID: String?
    /// The lane of the policy's connections (StreamLanes).
    var lane = 0
    /// Its key is borrowed by libcurl, so it must live here as long as the handle has it.
    var clientIdentity: ClientIdentity?
    var validatesDomainName: Bool?
    var resumesSessions: Bool?
    var wantsProgress: Bool?
    var authentication: Authentication??
    var proxy: ResolvedProxy?
    var connection: ConnectionOptions?
    var closesAfterUse = false
    /// Whether the request has a connection for itself (EasyHandle+OwnConnection).
    var hasOwnConnection = false
    var showsAnswerToTunnel = false
    var readsToEndOfStream = false
    var cookieJar: CookieJar?
    /// What libcurl begins with.
    var receivesInBulk = false
    var sendsInBulk = false
}

extension EasyHandle {
    /// Tells the handle what differs for a request.
    /// - Returns: The proxy that the request goes through.
    func apply(_ plan: TransferPlan) throws(TransferFailure) -> ResolvedProxy {
        clearErrorMessage()
        closeAfterUse(false)
        try apply(plan.url)
        let proxy = try applySettings(plan)
        try keepToOwnConnection(
            plan.context.authentication?.schemes.proveConnection ?? false
                || proxy.credentials?.schemes.proveConnection ?? false
        )
        // An overruled name may have been let pass meanwhile (Transfer+Trust).
        if applied.isSecure { try checkNames(plan.context.settings.values.policy.validatesDomainName) }
        let jar = plan.context.cookieJar
        // libcurl would send its own Cookie field beside the caller's.
        try use(jar == nil || plan.headers.contains("Cookie") ? nil : jar)
        try applyMethod(plan)
        try applyHeaders(plan)
        try applyBuffers(plan)
        try applyTrailers(plan.body)
        readToEndOfStream(false)
        showAnswerToTunnel(plan.context.asksAboutProxyChallenges && applied.isSecure && proxy.speaksHTTP)
        let wantsProgress = plan.progress != nil
        if applied.wantsProgress != wantsProgress {
            try set(CURLOPT_NOPROGRESS, wantsProgress ? 0 : 1)
            applied.wantsProgress = wantsProgress
        }
        return proxy
    }

    /// Tells the handle what follows from the settings that many requests have in common and from the URL's origin.
    private func applySettings(_ plan: TransferPlan) throws(TransferFailure) -> ResolvedProxy {
        let settings = plan.context.settings
        if let last = applied.settings, last.number == settings.number, last.isSecure == applied.isSecure,
            last.host == applied.host
        {
            return last.proxy
        }
        applied.settings = nil
        applied.route = nil
        let connection = plan.context.connection
        let readsEnvironment = connection.proxy.kind == .environment
        let proxy = try ResolvedProxy(
            connection.proxy,
            scheme: applied.isSecure ? "https" : "http",
            host: applied.host,
            environment: readsEnvironment ? ProcessInfo.processInfo.environment : [:]
        )
        if connection.refusesPrivateAddresses, !proxy.url.isEmpty {
            throw .invalidConfiguration(
                "private addresses cannot be refused behind a proxy, which resolves the name"
            )
        }
        if applied.authentication != .some(plan.context.authentication)
            || plan.context.authentication?.isASCII == false
        {
            applied.authentication = nil
            try apply(plan.context.authentication)
            applied.authentication = .some(plan.context.authentication)
        }
        try applyConnection(connection, proxy: proxy)
        if applied.isSecure { try applyTrust(plan) }
        try applyResumption(plan, proxy)
        // The environment may say something else the next time.
        if !readsEnvironment {
            applied.settings = AppliedOptions.Settings(
                number: settings.number,
                isSecure: applied.isSecure,
                host: applied.host,
                proxy: proxy
            )
        }
        return proxy
    }

    /// libcurl parses the URL once, here; what it connects to is what is read from the same parse.
    private func apply(_ url: URL) throws(TransferFailure) {
        guard applied.url != url else {
            applied.staysAtOrigin = true
            return
        }
        applied.url = nil
        let text = url.absoluteString
        // A relative URL would be resolved against the one before, which was another request's.
        let start = text.prefix(8).asciiLowercased
        guard start.hasPrefix("http://") || start.hasPrefix("https://"),
            curl_url_set(parsedURL, CURLUPART_URL, text, 0) == CURLUE_OK,
            let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST)
        else { throw .invalidURL }
        guard scheme == "http" || scheme == "https" else { throw .invalidURL }
        // libcurl keeps the text of the URL before; without this it would still report that one.
        try set(CURLOPT_URL, nil)
        try check(
            nm_easy_setopt_pointer(pointer, CURLOPT_CURLU, UnsafeMutableRawPointer(parsedURL)),
            CURLOPT_CURLU
        )
        if applied.isSecure != (scheme == "https") {
            // Over TLS, requests wait for a connection that may turn out to multiplex. Over http it never does, and
            // libcurl would look at every waiting request again with each connection that is made.
            try set(CURLOPT_PIPEWAIT, scheme == "https" ? 1 : 0)
            applied.isSecure = scheme == "https"
        }
        applied.route = nil
        let port = part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap { Int($0) } ?? 0
        let field = hostField(host, port)
        applied.staysAtOrigin = field == applied.hostField
        // What is in the list names another host.
        if !applied.staysAtOrigin, applied.headersNameHost { applied.headers = nil }
        applied.hostField = field
        applied.host = host.asciiLowercased
        applied.port = port
        applied.url = url
    }

    /// What `Host` says for a host, as libcurl writes it; nil where libcurl may change something about it.
    private func hostField(_ host: String, _ port: Int) -> String? {
        let isPlain = host.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D || $0 == 0x2E
        }
        guard isPlain, !host.hasSuffix(".") else { return nil }
        return port == (applied.isSecure ? 443 : 80) ? host : "\(host):\(port)"
    }

    private func part(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(parsedURL, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    private func applyTrust(_ plan: TransferPlan) throws(TransferFailure) {
        if applied.policyID != plan.policyID {
            applied.policyID = nil
            let (code, option) = PolicyMarker.put(plan.policyID, on: pointer, for: .server)
            try check(code, option)
            applied.policyID = plan.policyID
            applied.lane = 0
        }
        if applied.clientIdentity != plan.clientIdentity { try apply(plan.clientIdentity) }
    }

    /// Keeps to the connections of a lane, as to those of a policy.
    func keep(toLane lane: Int) throws(TransferFailure) {
        guard applied.lane != lane, let policyID = applied.policyID else { return }
        let marker = lane == 0 ? policyID : "\(policyID) lane \(lane)"
        let (code, option) = PolicyMarker.put(marker, on: pointer, for: .server)
        if code != CURLE_OK {
            applied.policyID = nil
            applied.settings = nil
        }
        try check(code, option)
        applied.lane = lane
    }

    /// Whether libcurl compares the names too, after the policy.
    func checkNames(_ checks: Bool) throws(TransferFailure) {
        guard applied.validatesDomainName != checks else { return }
        try set(CURLOPT_SSL_VERIFYHOST, checks ? 2 : 0)
        applied.validatesDomainName = checks
    }

    /// A resumed session brings no stapled response, so a policy that asks for one has a whole handshake each time.
    private func applyResumption(_ plan: TransferPlan, _ proxy: ResolvedProxy) throws(TransferFailure) {
        let resumes = plan.policy.stapledOCSP == .off && proxy.policy?.stapledOCSP ?? .off == .off
        guard applied.resumesSessions != resumes else { return }
        try set(CURLOPT_SSL_SESSIONID_CACHE, resumes ? 1 : 0)
        applied.resumesSessions = resumes
    }

    func apply(_ authentication: Authentication?) throws(TransferFailure) {
        try set(CURLOPT_USERNAME, authentication?.user)
        try set(CURLOPT_PASSWORD, authentication?.password)
        try set(CURLOPT_HTTPAUTH, Self.bits(of: authentication?.schemes ?? []))
    }

    /// Schemes as libcurl counts them; Basic for none.
    static func bits(of chosen: Authentication.Schemes) -> Int {
        // CURLAUTH_… are macros over unsigned long, which Swift does not import: their bits (curl/curl.h).
        let schemes: [(Authentication.Schemes, Int)] = [
            (.basic, 1 << 0), (.digest, 1 << 1), (.negotiate, 1 << 2), (.ntlm, 1 << 3),
        ]
        let bits = schemes.filter { chosen.contains($0.0) }.map(\.1).reduce(0, |)
        return bits == 0 ? 1 : bits
    }

    /// Lets go of what an idle handle must not keep in memory: a key, a password, a jar that nobody uses any more.
    func forgetSecrets() throws(TransferFailure) {
        try use(nil)
        if applied.clientIdentity != nil {
            // Even where the next request's settings are the same ones.
            applied.settings = nil
            try apply(nil as ClientIdentity?)
        }
        if applied.authentication ?? nil != nil {
            applied.settings = nil
            applied.authentication = nil
            try apply(nil as Authentication?)
            applied.authentication = .some(nil)
        }
    }

    private func applyMethod(_ plan: TransferPlan) throws(TransferFailure) {
        let hasBody = if case .none = plan.body { false } else { true }
        if applied.method != plan.method || applied.hasBody != hasBody {
            applied.method = nil
            try set(CURLOPT_NOBODY, plan.method == .head ? 1 : 0)
            if hasBody {
                try set(CURLOPT_POST, 1)
            } else if plan.method != .head {
                try set(CURLOPT_HTTPGET, 1)
            }
            let usual: HTTPMethod = hasBody ? .post : plan.method == .head ? .head : .get
            try set(CURLOPT_CUSTOMREQUEST, plan.method == usual ? nil : plan.method.rawValue)
            applied.method = plan.method
            applied.hasBody = hasBody
        }
        switch plan.body {
        case .none: break
        case .bytes(let data) where data.count <= UploadSource.copiedSize:
            try setOffset(CURLOPT_POSTFIELDSIZE_LARGE, Int64(data.count))
            let code = data.withUnsafeBytes { bytes in
                // An empty buffer has no address, and a null pointer would mean “ask the read callback”.
                bytes.baseAddress.map {
                    nm_easy_setopt_pointer(
                        pointer,
                        CURLOPT_COPYPOSTFIELDS,
                        UnsafeMutableRawPointer(mutating: $0)
                    )
                } ?? nm_easy_setopt_string(pointer, CURLOPT_COPYPOSTFIELDS, "")
            }
            try check(code, CURLOPT_COPYPOSTFIELDS)
        case .bytes(let data):
            try set(CURLOPT_POSTFIELDS, nil)
            try setOffset(CURLOPT_POSTFIELDSIZE_LARGE, Int64(data.count))
        case .channel(let channel):
            try set(CURLOPT_POSTFIELDS, nil)
            try setOffset(CURLOPT_POSTFIELDSIZE_LARGE, channel.length ?? -1)
        }
    }

    private func applyHeaders(_ plan: TransferPlan) throws(TransferFailure) {
        let hasBody = applied.hasBody ?? false
        let isStreamed = plan.context.delivery.isStreamed
        let namesHost = applied.staysAtOrigin && applied.hostField != nil
        if let headers = applied.headers, applied.headersAreForBody == hasBody,
            applied.headersAreForStream == isStreamed, applied.headersNameHost || !namesHost,
            headers == plan.headers
        {
            return
        }
        // A caller who names the codings wants the bytes as they are.
        let wantsDecoding = !plan.headers.contains("Accept-Encoding")
        // libcurl decodes what it has read although the transfer is paused, and keeps it (7.88: up to 64 MiB).
        let decodesAtReader = wantsDecoding && isStreamed
        applied.headers = nil
        // Accept: */* is libcurl's own. Without this option it leaves codings alone.
        try set(CURLOPT_ACCEPT_ENCODING, wantsDecoding && !decodesAtReader ? "" : nil)
        // libcurl would write its own field anew for each request, letter by letter, and copy it in the same way.
        let codings =
            decodesAtReader
            ? ContentDecoder.acceptedCodings : wantsDecoding ? CurlLibrary.acceptEncoding : nil
        var lines = CurlList()
        let host = namesHost ? applied.hostField : nil
        let entries = HeaderList.entries(of: plan.headers, hasBody: hasBody, codings: codings, host: host)
        for entry in entries { try lines.append(entry) }
        if plan.headers.contains("Host") { remembersHost = true }
        let list = lines.take()
        let code = nm_easy_setopt_slist(pointer, CURLOPT_HTTPHEADER, list)
        curl_slist_free_all(headerList)
        headerList = list
        try check(code, CURLOPT_HTTPHEADER)
        applied.headers = plan.headers
        applied.headersNameHost = namesHost
        applied.headersAreForBody = hasBody
        applied.headersAreForStream = isStreamed
        applied.decodesAtReader = decodesAtReader
    }

    /// Makes libcurl read a stream of HTTP/2 to its end although the declared length is reached.
    ///
    /// Else libcurl 7.88 stops reading then while it still sends: what opens the window for more of the body, or says
    /// that no more is wanted, is never read, and the thread is woken for it again and again. Whether the length is
    /// right, nghttp2 sees to. Over HTTP/1.1 the length is what ends a response.
    func readToEndOfStream(_ reads: Bool) {
        guard applied.readsToEndOfStream != reads else { return }
        applied.readsToEndOfStream = reads
        nm_easy_setopt_long(pointer, CURLOPT_IGNORE_CONTENT_LENGTH, reads ? 1 : 0)
    }

    /// Prepares fields behind the content, which libcurl asks for when the content has ended.
    ///
    /// Over HTTP/1.1 alone: in HTTP/2 libcurl would leave them out without a word. And with this handle for the last
    /// time: libcurl 7.88 never forgets that it has sent them, and a later body in chunks would be written to memory
    /// before its buffer.
    private func applyTrailers(_ body: UploadPlan) throws(TransferFailure) {
        guard body.hasTrailers else { return }
        isWornOut = true
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        let code = nm_easy_setopt_trailer_callback(pointer) { list, context in
            CurlCallbacks.addTrailers(to: list, context) ? CURL_TRAILERFUNC_OK : CURL_TRAILERFUNC_ABORT
        }
        try check(code, CURLOPT_TRAILERFUNCTION)
        let context = Unmanaged.passUnretained(self).toOpaque()
        try check(nm_easy_setopt_pointer(pointer, CURLOPT_TRAILERDATA, context), CURLOPT_TRAILERDATA)
    }

    /// Adapts libcurl's buffers to what is moved: a quarter of a megabyte a call takes less than a third of the CPU
    /// for large bodies.
    ///
    /// TLS hands over records of 16 KiB whatever the size, and a small response gains nothing, so those keep the size
    /// that costs the least memory.
    private func applyBuffers(_ plan: TransferPlan) throws(TransferFailure) {
        let receivesInBulk = plan.context.delivery.isStreamed && !applied.isSecure
        if applied.receivesInBulk != receivesInBulk {
            // The default is CURL_MAX_WRITE_SIZE, 16 KiB.
            try set(CURLOPT_BUFFERSIZE, receivesInBulk ? BodyChannel.bulkSize : BodyChannel.writeSize)
            applied.receivesInBulk = receivesInBulk
        }
        let sendsInBulk = plan.body.isLarge
        if applied.sendsInBulk != sendsInBulk {
            // The default is 64 KiB.
            try set(CURLOPT_UPLOAD_BUFFERSIZE, sendsInBulk ? 256 << 10 : 64 << 10)
            applied.sendsInBulk = sendsInBulk
        }
    }
}
