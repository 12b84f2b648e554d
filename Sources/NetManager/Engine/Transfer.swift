import CCurl
import CCurlShims
import FoundationEssentials
import HTTPMessage
import SecurityPolicy

/// One request under way: a handle of libcurl's, what has arrived, and whom to tell.
final class Transfer {
    let id: TransferID
    let plan: TransferPlan
    private let reply: UnsafeContinuation<StreamedResponse, any Error>
    private let owner: any AnyObject & Sendable
    private let engine: Engine
    private let outbox: Outbox
    private(set) var handle: EasyHandle?
    private var state = TransferState()
    private var headers = HeaderBlock()
    /// The head of the final response, once it is complete.
    private var head: HTTPResponse.Head?
    private var upload: UploadSource
    /// The whole body, when it is wanted whole.
    private var collected = Data()
    /// The way of the body to its reader, once the head has been handed on.
    private var channel: BodyChannel?
    /// What the connection that this transfer opened was verified with.
    private var verification: TLSVerification?

    init(_ start: TransferStart, engine: Engine, outbox: Outbox) {
        id = start.token.id
        plan = start.plan
        reply = start.reply
        owner = start.owner
        upload = UploadSource(start.plan.body)
        self.engine = engine
        self.outbox = outbox
    }

    /// Tells a handle what to do.
    func attach(_ handle: EasyHandle) throws(TransferFailure) {
        try handle.apply(plan)
        if handle.applied.isSecure {
            guard CurlLibrary.usesOpenSSL else { throw .unsuitableTLSLibrary(CurlLibrary.tlsLibrary) }
        } else if plan.policy.pinningMode != .none {
            throw .pinnedWithoutTLS
        }
        handle.transfer = self
        self.handle = handle
        if case .channel(let channel) = plan.body {
            channel.begin { [engine, id] in
                engine.post(.resume(id))
            } fail: { [engine, id] failure in
                engine.post(.uploadFailed(id, failure))
            }
        }
    }

    /// Gives the handle back.
    func detach() -> EasyHandle? {
        defer { handle = nil }
        handle?.transfer = nil
        return handle
    }

    /// Goes on with whatever direction was paused.
    func resume() {
        guard let handle else { return }
        // CURLPAUSE_CONT: libcurl may hand over the bytes it held back before this returns.
        curl_easy_pause(handle.pointer, 0)
    }

    // MARK: What libcurl asks and tells (CurlCallbacks)

    /// A connection is there and the request is about to be sent, perhaps not for the first time.
    func mayBeSent() -> Bool {
        guard let handle else { return false }
        if handle.applied.isSecure, let failure = trustFailure(of: handle) { return state.fail(failure) }
        guard state.requestStarts(isIdempotent: plan.method.isIdempotent) else {
            return state.fail(.wouldRepeat)
        }
        return true
    }

    /// Whether the connection is one that this transfer's own policy has verified.
    private func trustFailure(of handle: EasyHandle) -> TransferFailure? {
        guard let ssl = nm_easy_getinfo_ssl(handle.pointer).map({ OpaquePointer($0) }),
            let verification = TLSVerification.current(of: ssl),
            verification.policyID == plan.policyID, verification.host == handle.applied.host
        else {
            return .untrusted(.untrusted(code: 0, reason: "the connection was verified under another policy"))
        }
        self.verification = verification
        switch verification.ensureVerified(ssl) {
        case .success: return nil
        case .failure(let error): return .untrusted(error)
        }
    }

    func prepareTLS(_ sslContext: UnsafeMutableRawPointer) -> Bool {
        guard let handle else { return false }
        let verification = TLSVerification(
            policy: plan.policy,
            policyID: plan.policyID,
            host: handle.applied.host
        )
        self.verification = verification
        return verification.install(on: sslContext)
    }

    func received(headerLine line: UnsafeRawBufferPointer) -> Bool {
        guard headers.count(line) else { return state.fail(.headersTooLarge) }
        guard state.headerLine(isFirst: HeaderBlock.isStatusLine(line)) else { return true }
        headers.append(line)
        guard line.count <= 2 else { return true }
        guard let status = headers.status else { return state.fail(.malformedHead) }
        guard state.headEnds(status: status) else { return true }
        head = headers.head(url: plan.url)
        guard let head else { return state.fail(.malformedHead) }
        if plan.context.delivery == .streamed { deliver(head) }
        return true
    }

    func received(body bytes: UnsafeRawBufferPointer) -> Int {
        if let channel {
            switch channel.offer(bytes) {
            case .taken(let message):
                message.map(outbox.add)
                return bytes.count
            case .full:
                return Int(CURL_WRITEFUNC_PAUSE)
            }
        }
        guard case .buffered(let limit) = plan.context.delivery else {
            _ = state.fail(.malformedHead)
            return 0
        }
        guard bytes.count <= limit - collected.count else {
            _ = state.fail(.bodyTooLarge)
            return 0
        }
        collected.append(contentsOf: bytes)
        return bytes.count
    }

    func send(into room: UnsafeMutableRawBufferPointer) -> Int {
        switch upload.read(into: room) {
        case .bytes(let count): count
        case .dry: Int(CURL_READFUNC_PAUSE)
        case .end: 0
        }
    }

    func seekUpload(to offset: Int64) -> Bool {
        upload.seek(to: offset)
    }

    func progressed(download: (done: Int64, total: Int64), upload: (done: Int64, total: Int64)) {
        report(.upload, upload.done, upload.total, isFinal: false)
        report(.download, download.done, download.total, isFinal: false)
    }

    private func report(_ direction: TransferProgress.Direction, _ done: Int64, _ total: Int64, isFinal: Bool)
    {
        guard done > 0 else { return }
        let progress = TransferProgress(direction: direction, completed: done, total: total > 0 ? total : nil)
        plan.context.progress?.report(progress, isFinal: isFinal)
    }

    // MARK: The end

    /// Answers the call: the one place where a transfer ends.
    func finish(with failure: TransferFailure?, code: CURLcode?) {
        if case .channel(let channel) = plan.body { channel.close() }
        reportFinalProgress()
        let result = outcome(failure: failure, code: code)
        switch (channel, result) {
        case (nil, .success):
            guard let head else { return answer(.failure(error(for: TransferFailure.incompleteHead))) }
            answer(.success(StreamedResponse(head: head, body: ResponseBody(collected))))
        case (nil, .failure(let error)):
            answer(.failure(error))
        case (let channel?, let result):
            channel.finish(result).map(outbox.add)
        }
    }

    private func outcome(failure: TransferFailure?, code: CURLcode?) -> Result<Void, any Error> {
        if let failure = state.finish(failure) { return .failure(error(for: failure)) }
        guard let code, code != CURLE_OK else { return .success(()) }
        return .failure(error(for: code))
    }

    private func answer(_ result: Result<StreamedResponse, any Error>) {
        outbox.add(.reply(reply, result))
    }

    /// Hands the head on while the body is still to come.
    private func deliver(_ head: HTTPResponse.Head) {
        let channel = BodyChannel(id: id, engine: engine, owner: owner)
        self.channel = channel
        let body = ResponseBody(storage: .channel(BodyReader(source: channel)))
        answer(.success(StreamedResponse(head: head, body: body)))
    }

    private func reportFinalProgress() {
        guard plan.context.progress != nil, let handle else { return }
        let sent = handle.measure(CURLINFO_SIZE_UPLOAD_T)
        report(.upload, sent, handle.measure(CURLINFO_CONTENT_LENGTH_UPLOAD_T), isFinal: true)
        let received = handle.measure(CURLINFO_SIZE_DOWNLOAD_T)
        report(.download, received, handle.measure(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T), isFinal: true)
    }

    private func error(for failure: TransferFailure) -> any Error {
        failure.error(for: plan, phase: phase, response: partialResponse)
    }

    private func error(for code: CURLcode) -> any Error {
        let verdict: TrustError? = if case .failure(let error) = verification?.verdict { error } else { nil }
        return CurlFailure(
            code: code,
            message: handle?.errorMessage,
            verdict: verdict,
            hasStarted: state.hasStarted,
            mayHaveBeenExecuted: state.mayHaveBeenExecuted && !plan.method.isIdempotent,
            hasDeadline: plan.context.deadline != nil
        ).error(for: plan, phase: phase, response: partialResponse)
    }

    /// What arrived before it failed.
    private var partialResponse: HTTPResponse? {
        guard state.hasHead, let head else { return nil }
        return HTTPResponse(head: head, body: collected, requestMethod: plan.method)
    }

    /// How far the transfer has come, by what libcurl has timed.
    private var phase: RequestError.Phase? {
        guard let handle else { return nil }
        if state.hasHead { return .idle }
        if state.hasStarted {
            let isSent =
                handle.measure(CURLINFO_SIZE_UPLOAD_T) >= handle.measure(CURLINFO_CONTENT_LENGTH_UPLOAD_T)
            return isSent ? .firstByte : .send
        }
        if handle.measure(CURLINFO_NAMELOOKUP_TIME_T) == 0 { return .resolve }
        if handle.measure(CURLINFO_CONNECT_TIME_T) == 0 { return .connect }
        return handle.applied.isSecure ? .tls : .send
    }
}
