import FoundationEssentials
import HTTPMessage
import Serializers

/// A call that is ready to be sent.
struct PreparedCall: Sendable {
    let exchange: Exchange
    let steps: CallSettings
    let bodyLimit: Int

    /// Sends the request through the pipeline; the content may be still to come.
    func open() async throws -> StreamedResponse {
        exchange.began()
        return try await send(exchange.request)
    }

    /// Sends a request of the call's through the pipeline.
    func send(_ request: HTTPRequest) async throws -> StreamedResponse {
        // A suspended call runs no interceptor either.
        if exchange.control.isPaused { try await exchange.control.untilGoingOn() }
        let pipeline = Pipeline(steps, exchange: exchange)
        guard steps.runsForeignCode || exchange.lanes.engine == nil else {
            return try await pipeline.send(request)
        }
        return try await exchange.bounded { try await pipeline.send(request) }
    }

    /// Sends the request and lets a serializer read the response.
    @inline(__always)
    func value<S: ResponseSerializer>(as serializer: S) async throws -> S.Output {
        do {
            let answer = try await answer()
            // Here the engine's thread has been left: a user's serializer runs where its caller does.
            return try finish(answer, as: serializer)
        } catch {
            throw HTTPSessionManager.ended(by: error, exchange)
        }
    }

    /// Sends the request and waits for the answer that is the caller's, whose content has been read.
    // All that a waiting call holds here are references; a response would be held three times.
    @inline(never)
    func answer() async throws -> TransferAnswer {
        guard let transport = exchange.lanes.transport, let plan = try directPlan() else {
            return try await answerInSteps()
        }
        let answer = try await transport.answer(to: plan)
        if exchange.settles(answer) { return answer }
        return try await followed(answer)
    }

    private func answerInSteps() async throws -> TransferAnswer {
        let response = try await open()
        // It has been read by now, unless an interceptor made one of its own.
        guard let body = response.body.dataInMemory, body.count <= bodyLimit else {
            return exchange.whole(response, try await response.body.collect(upTo: bodyLimit))
        }
        return exchange.whole(response, body)
    }

    /// Lets a serializer read the response.
    func read<S: ResponseSerializer>(_ response: HTTPResponse, as serializer: S) throws(RequestError)
        -> S.Output
    {
        do {
            return try serializer.serialize(response)
        } catch {
            throw RequestError.unreadable(error, response, of: exchange)
        }
    }

    /// Lets a serializer read the response and tells the monitors that the call has ended.
    // Not inlined, as what it holds for a moment would be part of what every waiting call holds.
    @inline(never)
    private func finish<S: ResponseSerializer>(_ answer: TransferAnswer, as serializer: S) throws -> S.Output
    {
        let response = try answer.takeWhole()
        let value = try read(response, as: serializer)
        exchange.ended(response.head, nil)
        return value
    }
}

/// Most calls need no step between the caller and the transport: nobody intercepts, repeats or watches them. These are
/// handed over where they are made, and only an answer that leads elsewhere goes on through the steps.
extension PreparedCall {
    /// The plan of the one transmission of a call without steps; nil for a call that has some, or whose content is not in
    /// memory.
    /// - Throws: What forbids to send it.
    @inline(never)
    func directPlan() throws -> TransferPlan? {
        guard exchange.events == nil, !steps.runsForeignCode else { return nil }
        return try exchange.plan()
    }

    /// Follows the redirect that a call without steps was answered with.
    // Not inlined, so that its frame is none of a call that is not redirected.
    @inline(never)
    func followed(_ answer: TransferAnswer) async throws -> TransferAnswer {
        let redirects = RedirectInterceptor(steps, exchange: exchange)
        let response = try await exchange.lanes.onEngine {
            try await redirects.follow(try answer.takeStreamed(), of: exchange.request)
        }
        return exchange.whole(response, try await response.body.collect(upTo: bodyLimit))
    }
}
