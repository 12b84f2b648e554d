public import HTTPMessage
public import Serializers

extension HTTPSessionManager {
    /// Server-sent events, with reconnection: `for try await event in manager.events("updates")`.
    ///
    /// Nothing is sent before the first event is asked for. The timeout is for the head of each connection's response.
    /// - Parameters:
    ///   - url: The URL, or a path below the base URL.
    ///   - parameters: The query.
    ///   - headers: Header fields of each connection's request.
    ///   - options: What is done otherwise than the configuration says.
    ///   - settings: How it reconnects.
    /// - Returns: The events; each iteration has connections of its own.
    public func events(
        _ url: String,
        parameters: JSONValue? = nil,
        headers: HTTPHeaders = [:],
        options: RequestOptions = .init(),
        settings: EventSourceSettings = .init()
    ) -> EventSource {
        let call = Call(method: .get, url: url, parameters: parameters, headers: headers, options: options)
        return EventSource(manager: self, call: call, settings: settings)
    }
}
