public import HTTPMessage
public import Serializers

extension HTTPSessionManager {
    /// Sends a request as it is and reads the response into memory.
    ///
    /// The manager's header fields are added where the request has none of their names; a relative URL is resolved
    /// against the base URL. No status or content type is judged. A GET with a body is sent with it, although servers
    /// need not look at it (RFC 9110, section 9.3.1).
    /// - Parameters:
    ///   - request: The request.
    ///   - options: What is done otherwise than the configuration says.
    /// - Returns: The final response, of any status.
    /// - Throws: ``RequestError``, or `CancellationError` when the calling task was cancelled.
    public func send(_ request: HTTPRequest, options: RequestOptions = .init()) async throws -> HTTPResponse {
        let prepared = try prepare(request, options, streaming: nil)
        do {
            let response = try await prepared.answer().takeWhole()
            prepared.exchange.ended(response.head, nil)
            return response
        } catch {
            throw HTTPSessionManager.ended(by: error, prepared.exchange)
        }
    }

    /// Sends a request and gives the response away while its content is still arriving.
    ///
    /// Headers and URLs are treated as ``send(_:options:)`` does. The transfer ends when `consume` returns or throws;
    /// what it has not read by then is lost. The timeout ends with the head of the final response, as do retries: the
    /// content may take as long as it likes, as long as it does not stand still for ``Timeouts/idle`` while somebody
    /// waits for it. A caller who takes long to read is not counted.
    /// - Parameters:
    ///   - request: The request.
    ///   - options: What is done otherwise than the configuration says.
    ///   - consume: Reads the response, where the caller runs: on the caller's actor if it has one.
    /// - Returns: What `consume` returns.
    /// - Throws: ``RequestError``, `CancellationError` when the calling task was cancelled, or what `consume` throws.
    public nonisolated(nonsending) func stream<R>(
        _ request: HTTPRequest,
        options: RequestOptions = .init(),
        _ consume: nonisolated(nonsending) (StreamedResponse) async throws -> R
    ) async throws -> R {
        let prepared = try prepare(request, options, streaming: .streamed)
        let response: StreamedResponse
        do {
            response = try await prepared.open()
        } catch {
            throw HTTPSessionManager.ended(by: error, prepared.exchange)
        }
        defer { response.body.abandon() }
        do {
            let result = try await consume(response)
            prepared.exchange.ended(response.head, nil)
            return result
        } catch let error as BodyTooLarge {
            let tooLarge = RequestError(
                .bodyTooLarge,
                for: request,
                attempt: prepared.exchange.attempts,
                response: HTTPResponse(head: response.head, requestMethod: prepared.exchange.lastMethod),
                detail: "The limit is \(error.limit) bytes."
            )
            prepared.exchange.ended(response.head, tooLarge)
            throw tooLarge
        } catch {
            // It may be an error of the caller's own, which is rethrown as it is.
            prepared.exchange.ended(response.head, RequestError.made(from: error, of: prepared.exchange))
            throw error
        }
    }

    private func prepare(
        _ request: HTTPRequest,
        _ options: RequestOptions,
        streaming: TransportContext.Delivery?
    ) throws(RequestError) -> PreparedCall {
        let snapshot = snapshot
        var request = request
        if request.url.scheme == nil {
            do {
                request.url = try RequestURL.url(request.url.relativeString, base: snapshot.base)
            } catch {
                throw RequestError(.invalidURL, for: request, detail: error.reason)
            }
        } else if request.url.baseURL != nil {
            request.url = request.url.absoluteURL
        }
        let own = request.headers
        request.headers = snapshot.configuration.headers
        request.headers.replace(with: own)
        return try prepare(request, options, under: snapshot, streaming: streaming)
    }
}

extension HTTPSessionManager {
    /// Makes a request in the shape of the wrapper that AKNetPackegeAFN is: one call for everything.
    /// - Parameters:
    ///   - method: The method.
    ///   - signature: The name of the certificate that judges the server; nil for the manager's policy.
    ///   - api: The URL, or a path below the base URL.
    ///   - parameters: The parameters.
    ///   - success: Called with the JSON of the response.
    ///   - fail: Called with the error. Exactly one of the two is called, once, on the completion queue.
    /// - Returns: The task, for cancelling.
    @discardableResult
    public func request(
        _ method: HTTPMethod,
        signature: String?,
        api: String,
        parameters: JSONValue? = nil,
        success: (@Sendable (JSONValue) -> Void)? = nil,
        fail: (@Sendable (RequestError) -> Void)? = nil
    ) -> RequestTask {
        request(
            method,
            signature: signature,
            api: api,
            parameters: parameters,
            as: \.responseSerializer,
            success: success,
            fail: fail
        )
    }

    func request(
        _ method: HTTPMethod,
        signature: String?,
        api: String,
        parameters: JSONValue?,
        as serializer: (Configuration) -> JSONResponseSerializer,
        success: (@Sendable (JSONValue) -> Void)?,
        fail: (@Sendable (RequestError) -> Void)?
    ) -> RequestTask {
        var options = RequestOptions()
        options.signature = signature
        let call = Call(method: method, url: api, parameters: parameters, headers: [:], options: options)
        return start(
            call,
            as: serializer,
            success: { _, json in success?(json) },
            failure: { _, error in fail?(error) },
            progress: nil
        )
    }
}
