import CCurl
import CCurlShims
import HTTPMessage
import SecurityPolicy

/// What libcurl asks and tells (CurlCallbacks).
extension Transfer {
    /// The name is about to be resolved: there was a place among the connections.
    /// - Returns: False when it has to wait until fewer names are looked up.
    func resolves() -> Bool {
        // What it has waited counts as looking its name up.
        if lookUp != .waits { clock.enter(.resolve, now: MonotonicClock.nanoseconds) }
        guard needsResolver else { return true }
        endLookUp(isAbandoned: false)
        lookUp = beginLookUp() ? .runs : .refused
        return lookUp == .runs
    }

    /// Whether the system's resolver is asked, in which case it takes a thread.
    private var needsResolver: Bool {
        // libcurl knows those names itself (RFC 6761, section 6.3). Which one is looked up otherwise it does not say.
        guard let host = handle?.applied.host, proxy.url.isEmpty, plan.context.connection.overrides.isEmpty
        else {
            return true
        }
        let name = host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...]
        return name != "localhost" && !name.hasSuffix(".localhost") && IPAddress(text: name) == nil
    }

    /// A socket is about to be opened to an address.
    /// - Returns: False when it must not be.
    func mayConnect(to address: IPAddress?) -> Bool {
        clock.enter(.connect, now: MonotonicClock.nanoseconds)
        endLookUp(isAbandoned: false)
        handshakes = 0
        return mayTalk(to: address)
    }

    private func mayTalk(to address: @autoclosure () -> IPAddress?) -> Bool {
        guard plan.context.connection.refusesPrivateAddresses, let address = address(), address.isSpecial
        else { return true }
        return state.fail(.addressRefused(address.description))
    }

    /// A connection is there and the request is about to be sent, perhaps not for the first time.
    func mayBeSent(over ends: ConnectionEnds) -> Bool {
        guard let handle else { return false }
        // Where a server does not want to be asked first (`Expect`), libcurl tries again by itself, for ever when the field
        // is the caller's; and the caller may have the response already. Its content libcurl has thrown away by then.
        guard !state.hasHead || head?.status != 417 else {
            keepsResponse = true
            return false
        }
        if handle.applied.isSecure, let failure = trustFailure(of: handle) {
            // What the program's hook has still to be asked about has not failed yet.
            return verification?.question == nil ? state.fail(failure) : false
        }
        guard takeConnection() else {
            needsFreshConnection = true
            return false
        }
        handle.closeAfterUse(verification?.clientCertificate.isPending == true)
        // A reused connection was opened for a request with other options.
        guard mayTalk(to: ends.remote.address) else { return false }
        if case .channel = plan.body, uploaded > 0 || upload.hasEnded && plan.body.hasTrailers {
            return state.fail(.wouldRepeat)
        }
        guard state.requestStarts(isIdempotent: plan.method.isIdempotent) else {
            return state.fail(.wouldRepeat)
        }
        handle.showAnswerToTunnel(false)
        noteLayers(ends)
        clock.enter(.firstByte, now: MonotonicClock.nanoseconds)
        return true
    }

    /// Remembers the socket where others get what comes behind this transfer's own bytes in a record of the proxy's.
    private func noteLayers(_ ends: ConnectionEnds) {
        layeredSocket = nil
        guard multiplexes, proxy.policy != nil, let verification, let handle else { return }
        // The same for the whole life of the connection, which the verification belongs to.
        verification.layeredSocket =
            verification.layeredSocket ?? handle.selector.unread.descriptor(between: ends)
        layeredSocket = verification.layeredSocket
    }

    /// Lets the transfer's connection be read again, where more may have come than the socket shows.
    func noteUnread() {
        if let layeredSocket { handle?.selector.unread.note(layeredSocket) }
    }

    func received(headerLine line: UnsafeRawBufferPointer) -> Int {
        guard state.hasStarted else {
            // Nothing but a proxy has been asked for anything yet.
            guard tunnelHeaders.count(line) else { return state.fail(.headersTooLarge) ? line.count : 0 }
            tunnelHeaders.append(line)
            return line.count
        }
        noteUnread()
        // libcurl has taken the cookie by now, whatever becomes of the response.
        if HeaderBlock.setsCookie(line), let handle, let jar = handle.applied.cookieJar {
            let host = handle.applied.host
            let key = handle.remembersHost ? nil : CookieCount.key(ofField: line, host: host, url: plan.url)
            if jar.counts(key) { outbox.add(.surplus(jar)) }
        }
        // libcurl forgets a pause when it sends a request again on another connection.
        guard !isPaused else {
            holdSocket()
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        return takes(headerLine: line) ? line.count : 0
    }

    private func takes(headerLine line: UnsafeRawBufferPointer) -> Bool {
        guard headers.count(line) else { return state.fail(.headersTooLarge) }
        switch state.headerLine(looksFirst: HeaderBlock.isStatusLine(line)) {
        case .first:
            // Before libcurl sees the declared length. Of a response that comes when all is sent, that length is the better
            // end: libcurl 7.88 may miss the end of a stream for ever.
            handle?.readToEndOfStream(isEarly)
        case .field: break
        case .trailer:
            headers.append(trailer: line)
            return true
        case .misplaced: return state.fail(.malformedHead)
        }
        headers.append(line)
        guard line.count <= 2 else { return true }
        guard let status = headers.status else { return state.fail(.malformedHead) }
        guard state.headEnds(status: status) else { return true }
        settleClientCertificate()
        guard let (head, length) = headers.takeSection(url: plan.url) else {
            return state.fail(.malformedHead)
        }
        declaredLength = length ?? 0
        isCoded = headers.mayBeCoded && head.headers.contains("Content-Encoding")
        // The length of encoded content says nothing about the decoded bytes that are counted.
        if plan.context.meter != nil { downloadTotal = isCoded ? nil : length }
        let isStreamed = plan.context.delivery.isStreamed
        let problem = headers.mayBeCoded ? codingProblem(head.headers, isStreamed: isStreamed) : nil
        self.head = consume head
        if let problem { return state.fail(.undecodable(problem)) }
        clock.enter(.idle, now: MonotonicClock.nanoseconds)
        endUpload(at: status)
        if handle?.applied.readsToEndOfStream == true { early.add(self) }
        if uploaded == 0, case .bytes(let data) = plan.body, !data.isEmpty {
            // It was handed to libcurl whole, which does not say how much of it is sent.
            uploaded = Int64(data.count)
            meterBody(.upload)
        }
        return !isStreamed || beginStream(status)
    }

    /// Hands the head on to whom the body is streamed.
    /// - Returns: False when the transfer must end.
    private func beginStream(_ status: Int) -> Bool {
        // A challenge may be answered by libcurl, and then this is not the response: its body will tell.
        let isAnswered =
            status == 401 && plan.context.authentication != nil || status == 407 && proxy.credentials != nil
        guard let head, !isAnswered else { return true }
        // A call has one answer.
        guard channel == nil else { return state.fail(.malformedHead) }
        deliver(head)
        return true
    }

    /// What is wrong with the codings that a head names; nil when nothing is.
    private func codingProblem(_ fields: HTTPHeaders, isStreamed: Bool) -> String? {
        func codings(_ name: String) -> Int {
            fields[values: name].flatMap { $0.split(separator: ",") }.count {
                !["", "identity", "none", "chunked"].contains($0.trimmingOptionalWhitespace.asciiLowercased)
            }
        }
        let ofMessage = codings("Transfer-Encoding")
        // libcurl undoes those too, as fast as they come, or hands them on as content.
        if isStreamed {
            return ofMessage == 0 ? nil : "the server used a transfer coding that it was not asked for"
        }
        // What one coding makes for another to undo is counted nowhere: a few KiB may be endless work for libcurl, on this
        // thread. Readers of streams, who decode for themselves, count it. Where the caller names codings, those of the
        // content stay.
        let ofContent = plan.headers.contains("Accept-Encoding") ? 0 : codings("Content-Encoding")
        return ofMessage + ofContent <= 1 ? nil : "it has several codings on top of each other; stream it"
    }

    /// Whether an answer that begins now comes while the body is still being sent, over HTTP/2.
    private var isEarly: Bool {
        CurlLibrary.stopsReadingAtLength && multiplexes && plan.body.isReadWhileSent && !hasSentAll
    }

    /// Makes an early answer end an upload that waits for its source.
    ///
    /// At a status of 300 or more libcurl stops sending by itself, but one that is paused stays so for ever (7.88 to
    /// date). It stops after this callback, so it is set going once it has returned.
    private func endUpload(at status: Int) {
        guard status >= 300, case .channel = plan.body else { return }
        engine.post(.resume(id))
    }

    /// Hands the head on while the body is still to come.
    private func deliver(_ head: HTTPResponse.Head) {
        let readSize = handle?.applied.receivesInBulk == true ? BodyChannel.bulkSize : BodyChannel.writeSize
        let channel = BodyChannel(id: id, readSize: readSize, engine: engine, owner: owner)
        self.channel = channel
        let source: any BodySource
        if handle?.applied.decodesAtReader == true, head.headers.contains("Content-Encoding") {
            readerDecodes = true
            source = DecodedBody(channel, head, for: plan)
        } else {
            source = channel
        }
        let body = ResponseBody(storage: .channel(BodyReader(source: source)), trailers: trailers)
        outbox.add(.reply(reply, TransferAnswer(streamed: response(head, body))))
    }

    func received(body bytes: UnsafeRawBufferPointer) -> Int {
        noteUnread()
        guard !isPaused else {
            holdSocket()
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        if clock.isNeeded { clock.beat(now: MonotonicClock.nanoseconds) }
        if channel == nil, plan.context.delivery.isStreamed, let head { deliver(head) }
        decoded += bytes.count
        guard !looksLikeBomb else {
            _ = state.fail(.decompressionBomb)
            return 0
        }
        if let channel {
            switch channel.offer(bytes) {
            case .taken(let message): message.map(outbox.add)
            case .takenLast(let message):
                message.map(outbox.add)
                waitForReader()
            case .full:
                decoded -= bytes.count
                clock.hold()
                isFull = true
                holdSocket()
                return Int(CURL_WRITEFUNC_PAUSE)
            }
        } else {
            guard case .buffered(let limit) = plan.context.delivery, bytes.count <= limit - collected.count
            else {
                _ = state.fail(.bodyTooLarge)
                return 0
            }
            collected.append(contentsOf: bytes)
        }
        if !readerDecodes { meterBody(.download) }
        return bytes.count
    }

    /// Whether decoding makes far more bytes than arrive.
    ///
    /// Small bodies are never looked at: their size is no danger.
    private var looksLikeBomb: Bool {
        guard isCoded, decoded > 8 << 20, let handle else { return false }
        return decoded / max(1, Int(handle.measure(CURLINFO_SIZE_DOWNLOAD_T)))
            > plan.context.maximumDecompressionRatio
    }

    func send(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard !isPaused else { return Int(CURL_READFUNC_PAUSE) }
        if clock.isNeeded { clock.beat(now: MonotonicClock.nanoseconds) }
        switch upload.read(into: room) {
        case .bytes(let count):
            uploaded += Int64(count)
            meterBody(.upload)
            return count
        case .dry:
            clock.hold()
            return Int(CURL_READFUNC_PAUSE)
        case .end:
            return 0
        }
    }

    func seekUpload(to offset: Int64) -> Bool {
        uploaded = offset
        return upload.seek(to: offset)
    }

    /// Begins the body anew, where libcurl gets the request another time and nothing says how much of it was sent before.
    ///
    /// What can be drawn only once stays where it is, and the request is not sent.
    func rewindUpload() {
        if uploaded > 0, upload.seek(to: 0) { uploaded = 0 }
    }

    /// Writes the figures of this attempt down for whoever asks the task.
    private func meterBody(_ direction: TransferProgress.Direction) {
        guard let meter = plan.context.meter else { return }
        let figures =
            switch direction {
            case .upload:
                TransferProgress(direction: .upload, completed: uploaded, total: plan.body.length)
            case .download:
                TransferProgress(
                    direction: .download,
                    completed: Int64(decoded),
                    total: downloadTotal
                )
            }
        meter.record(figures)
    }

    func progressed(download: (done: Int64, total: Int64), upload: (done: Int64, total: Int64)) {
        report(.upload, upload.done, upload.total, isFinal: false)
        report(
            .download,
            download.done,
            download.total > 0 ? download.total : declaredLength,
            isFinal: false
        )
    }

    func report(_ direction: TransferProgress.Direction, _ done: Int64, _ total: Int64, isFinal: Bool) {
        guard done > 0 else { return }
        let progress = TransferProgress(direction: direction, completed: done, total: total > 0 ? total : nil)
        plan.progress?.report(progress, isFinal: isFinal)
    }
}

extension UploadPlan {
    /// The length of the body, where it is known.
    fileprivate var length: Int64? {
        switch self {
        case .none: 0
        case .bytes(let data): Int64(data.count)
        case .channel(let channel): channel.length
        }
    }
}
