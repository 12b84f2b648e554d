/// An event of a `text/event-stream` (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The last event ID at this event: what a reconnection would tell the server; empty when there is none.
    public var id: String
    /// The type; `message` when the server names none.
    public var event: String
    /// The data: the lines joined by LF.
    public var data: String
    /// How long the server asks clients to wait before they reconnect; nil while it has not said.
    public var reconnectionTime: Duration?

    /// Makes an event.
    public init(id: String = "", event: String = "message", data: String, reconnectionTime: Duration? = nil) {
        self.id = id
        self.event = event
        self.data = data
        self.reconnectionTime = reconnectionTime
    }
}
