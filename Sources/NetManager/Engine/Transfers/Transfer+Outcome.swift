import CCurl
import CCurlShims
import FoundationEssentials
import HTTPMessage
import Locks
import SecurityPolicy

/// How a transfer ends.
extension Transfer {
    /// Answers the call: the one place where a transfer ends.
    func finish(with failure: TransferFailure?, code: CURLcode?) {
        if case .channel(let channel) = plan.body { channel.close() }
        reportFinalProgress()
        let result = outcome(failure: failure, code: code)
        let fields = headers.trailers
        recordMetrics(result)
        if let channel {
            if let fields { trailers.withLock { $0 = fields } }
            channel.finish(result).map(outbox.add)
            return
        }
        switch result {
        case .failure(let error): answer(TransferAnswer(failed: error))
        case .success:
            guard let head = head.take() else {
                return answer(TransferAnswer(failed: error(for: TransferFailure.incompleteHead)))
            }
            answer(whole(consume head, fields))
        }
    }

    /// The response whose content was wanted whole, to which what has arrived is handed over.
    private func whole(_ head: consuming HTTPResponse.Head, _ trailers: HTTPHeaders?)
        -> TransferAnswer
    {
        let remarks = ResponseRemarks(
            lacksClientCertificate: lacksClientCertificate,
            proxyChallenge: proxyChallenge(head)
        )
        return TransferAnswer(
            whole: HTTPResponse(
                head: consume head,
                body: handOverCollected(),
                requestMethod: plan.method,
                trailers: trailers ?? HTTPHeaders()
            ),
            remarks
        )
    }

    private func handOverCollected() -> Data {
        var data = Data()
        swap(&data, &collected)
        return data
    }

    /// A response, with what the handshake says about it.
    func response(_ head: HTTPResponse.Head, _ body: ResponseBody) -> StreamedResponse {
        var response = StreamedResponse(head: head, body: body)
        response.lacksClientCertificate = lacksClientCertificate
        response.proxyChallenge = proxyChallenge(head)
        return response
    }

    /// Whether the server had asked for a client certificate and the client has none.
    private var lacksClientCertificate: Bool {
        verification?.clientCertificate.wasAsked == true && plan.clientIdentity == nil
    }

    /// What the proxy asks, where the response is the proxy's own: behind a tunnel it would be the server's word.
    private func proxyChallenge(_ head: borrowing HTTPResponse.Head) -> ProxyChallenge? {
        guard head.status == 407, handle?.applied.isSecure == false else { return nil }
        return proxy.challenge(copy head)
    }

    private func answer(_ answer: TransferAnswer) {
        outbox.add(.reply(reply, answer))
    }

    private func outcome(failure: TransferFailure?, code: CURLcode?) -> Result<Void, any Error> {
        if let failure = state.finish(failure) { return .failure(error(for: failure)) }
        if keepsResponse { return .success(()) }
        guard let code, code != CURLE_OK else {
            // nghttp2 sees to the length, but for a stream that is reset without an error.
            let isShort = handle?.applied.readsToEndOfStream == true && isComplete == false
            return isShort ? .failure(error(for: CURLE_PARTIAL_FILE)) : .success(())
        }
        return isAnsweredEarly(code) ? .success(()) : .failure(error(for: code))
    }

    /// Whether the response is complete, and all that failed was to send more of a body that the server does not want.
    ///
    /// Such a server resets the stream behind its response, without an error, and the response counts (RFC 9113, section
    /// 8.1). libcurl 7.88 ends so with a code and without words; of a stream with an error it says which. Over HTTP/1.1 it
    /// closes the connection (RFC 9112, section 9.6).
    private func isAnsweredEarly(_ code: CURLcode) -> Bool {
        guard isComplete == true else { return false }
        return multiplexes
            ? code == CURLE_HTTP2_STREAM && handle?.errorMessage == nil
            // Also where libcurl has all of the body, and could not send the end of it, or the trailers.
            : code == CURLE_SEND_ERROR
    }

    /// Whether the content of the response has the declared length; nil where none is declared.
    var isComplete: Bool? {
        guard state.hasHead, let head, let handle else { return nil }
        if [204, 304].contains(head.status) { return true }
        guard let length = DeclaredLength(head.headers)?.bytes else { return nil }
        return handle.measure(CURLINFO_SIZE_DOWNLOAD_T) == length
    }

    private func error(for failure: TransferFailure) -> any Error {
        // The second connection has come further than the first; the answer to what was sent on that one is missing.
        let phase: RequestError.Phase? = if case .wouldRepeat = failure { .firstByte } else { phase }
        return withServerTrust(failure.error(for: plan, phase: phase, response: partialResponse))
    }

    private func error(for code: CURLcode) -> any Error {
        let failure = CurlFailure(
            code: code,
            message: handle?.errorMessage.flatMap { proxy.mayBeQuoted(in: $0) ? nil : $0 },
            verdict: verification?.refusal,
            clientCertificate: verification?.clientCertificate,
            proxyVerdict: proxyVerification?.refusal,
            proxyAnswer: handle.map { $0.information(CURLINFO_HTTP_CONNECTCODE) } ?? 0,
            isProxied: !proxy.url.isEmpty,
            isAtProxyTLS: proxy.policy != nil && handshakes < 2 && !state.hasStarted,
            hasStarted: state.hasStarted,
            hasHead: state.hasHead,
            mayHaveBeenExecuted: state.mayHaveBeenExecuted && !plan.method.isIdempotent
        )
        var error = failure.error(for: plan, phase: phase, response: partialResponse)
        if case .proxyFailed = error.kind, !state.hasStarted, let head = tunnelHeaders.head(url: plan.url) {
            error.proxyChallenge = proxy.challenge(head)
        }
        return withServerTrust(error)
    }

    /// Adds what the server showed to an error that is about it.
    private func withServerTrust(_ error: any Error) -> any Error {
        guard var error = error as? RequestError, case .untrustedServer = error.kind else { return error }
        error.serverTrust = verification?.refusedTrust
        return error
    }

    /// What arrived before it failed.
    private var partialResponse: HTTPResponse? {
        guard state.hasHead, let head else { return nil }
        return HTTPResponse(head: head, body: collected, requestMethod: plan.method)
    }

    /// How far the transfer has come.
    private var phase: RequestError.Phase? {
        guard handle != nil, clock.phase == .firstByte else { return handle == nil ? nil : clock.phase }
        return hasSentAll ? .firstByte : .send
    }

    /// Whether libcurl has sent the whole body, or holds what is left of it.
    var hasSentAll: Bool {
        guard let handle else { return false }
        let length = handle.measure(CURLINFO_CONTENT_LENGTH_UPLOAD_T)
        // Below zero: the length was not declared.
        return length < 0 ? upload.hasEnded : handle.measure(CURLINFO_SIZE_UPLOAD_T) >= length
    }

    private func reportFinalProgress() {
        guard plan.progress != nil, wasStarted, let handle else { return }
        let sent = handle.measure(CURLINFO_SIZE_UPLOAD_T)
        report(.upload, sent, handle.measure(CURLINFO_CONTENT_LENGTH_UPLOAD_T), isFinal: true)
        let received = handle.measure(CURLINFO_SIZE_DOWNLOAD_T)
        let length = handle.measure(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        report(.download, received, length > 0 ? length : declaredLength, isFinal: true)
    }

    private func recordMetrics(_ result: Result<Void, any Error>) {
        guard let recorder = plan.context.metrics, wasStarted, let handle else { return }
        recorder.record(
            MeasuredAttempt(
                number: plan.context.attempt,
                nameLookup: handle.measure(CURLINFO_NAMELOOKUP_TIME_T),
                connect: handle.measure(CURLINFO_CONNECT_TIME_T),
                tls: handle.measure(CURLINFO_APPCONNECT_TIME_T),
                firstByte: handle.measure(CURLINFO_STARTTRANSFER_TIME_T),
                total: handle.measure(CURLINFO_TOTAL_TIME_T),
                bodyBytesSent: plan.body.isEmpty ? 0 : handle.measure(CURLINFO_SIZE_UPLOAD_T),
                bodyBytesReceived: handle.measure(CURLINFO_SIZE_DOWNLOAD_T),
                isConnectionReused: state.hasStarted && handle.information(CURLINFO_NUM_CONNECTS) == 0,
                remoteAddress: handle.text(CURLINFO_PRIMARY_IP),
                remotePort: handle.information(CURLINFO_PRIMARY_PORT),
                version: head?.version,
                handshake: measuredHandshake(handle)
            ),
            failure: result.failure
        )
    }

    private func measuredHandshake(_ handle: EasyHandle) -> MeasuredAttempt.Handshake? {
        guard handle.applied.isSecure || tlsDescription != nil else { return nil }
        var trust: TrustDecision?
        if handle.applied.isSecure, case .success(let decision) = verification?.verdict { trust = decision }
        return MeasuredAttempt.Handshake(
            version: tlsDescription?.version,
            cipherSuite: tlsDescription?.cipherSuite,
            trust: trust
        )
    }
}

extension Result where Success == Void, Failure == any Error {
    /// The error as the library's own; nil for a success.
    fileprivate var failure: RequestError? {
        if case .failure(let error) = self { error as? RequestError } else { nil }
    }
}
