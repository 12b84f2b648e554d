import FoundationEssentials
import HTTPMessage
import Serializers

/// How an ``EventSource`` reconnects.
public struct EventSourceSettings: Sendable {
    /// The wait before a reconnection until the server says otherwise (`retry:`); 3 seconds by default.
    public var reconnectionTime: Duration = .seconds(3)
    /// The longest wait: each connection in a row that fails doubles it up to here; a minute by default.
    ///
    /// A server that asks for longer gets what it asks for.
    public var maximumReconnectionTime: Duration = .seconds(60)
    /// How many connections in a row may fail before the source does; nil, the default, for any number.
    ///
    /// One that brings an event, or that the server ends in good order, begins a new row.
    public var failureLimit: Int?
    /// What the first connection tells the server as `Last-Event-ID`; empty, the default, for nothing.
    public var lastEventID = ""
    /// The most bytes of an event's data; 16 MiB by default.
    public var sizeLimit = 16 << 20

    /// Makes settings of the defaults.
    public init() {}
}

/// Server-sent events over as many connections as it takes (WHATWG HTML, section 9.2).
///
/// Each iteration connects for itself, when the first event is asked for. When the connection ends or breaks, it waits
/// and connects again with the last event's ID, so that the server can go on where it stopped. Silence of more than
/// ``Timeouts/idle`` counts as a break. Status 204 ends the events; every other status but 200, and another media type
/// than `text/event-stream`, is an error. A request that is not idempotent (``RequestOptions/isRepeatable``) is sent
/// once: its events end with its connection, and a connection that breaks is an error. Cancelling the task that reads,
/// or dropping the iterator, ends the connection.
public struct EventSource: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// What a read throws: ``RequestError``, or `CancellationError` when the reading task was cancelled.
    public typealias Failure = any Error

    let manager: HTTPSessionManager
    let call: HTTPSessionManager.Call
    let settings: EventSourceSettings

    /// Begins an iteration; nothing is sent yet.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source: self)
    }

    /// Connects, and draws the events.
    public struct Iterator: AsyncIteratorProtocol {
        /// An open connection.
        private struct Connection {
            let exchange: Exchange
            let head: HTTPResponse.Head
            var events: ResponseBody.Events.Iterator

            /// Lets the monitors know, and gives the error back as the caller sees it.
            func ended(by error: any Error) -> any Error {
                guard let tooLarge = error as? BodyTooLarge else {
                    return HTTPSessionManager.ended(by: error, exchange)
                }
                let detail = "The limit of an event is \(tooLarge.limit) bytes."
                let made = RequestError(
                    .bodyTooLarge,
                    for: exchange.request,
                    attempt: exchange.attempts,
                    response: HTTPResponse(head: head),
                    detail: detail
                )
                return HTTPSessionManager.ended(by: made, exchange)
            }
        }

        private let source: EventSource
        private var connection: Connection?
        private var lastEventID: String
        private var serversTime: Duration?
        private var failures = 0
        private var hasConnected = false
        private var isOver = false

        init(source: EventSource) {
            self.source = source
            lastEventID = source.settings.lastEventID
        }

        /// The next event; nil when the server has said that there are no more.
        public mutating func next() async throws -> ServerSentEvent? {
            while !isOver {
                do {
                    if connection == nil { try await connect() }
                    if let event = try await draw() { return event }
                    if !mayReconnect { isOver = true }
                } catch let error as RequestError where error.isRetryable && mayReconnect {
                    failures += 1
                    if let limit = source.settings.failureLimit, failures > limit {
                        isOver = true
                        throw error
                    }
                } catch {
                    isOver = true
                    throw error
                }
            }
            return nil
        }

        private var mayReconnect: Bool {
            source.call.method.isIdempotent || source.call.options.isRepeatable
        }

        /// The next event of the open connection; nil when it has ended.
        private mutating func draw() async throws -> ServerSentEvent? {
            guard var current = connection else { return nil }
            connection = nil
            let drawn: Result<ServerSentEvent?, any Error>
            do {
                drawn = .success(try await current.events.next())
            } catch {
                drawn = .failure(current.ended(by: error))
            }
            lastEventID = current.events.parser.lastEventID
            serversTime = current.events.parser.reconnectionTime ?? serversTime
            guard let event = try drawn.get() else {
                failures = 0
                current.exchange.ended(current.head, nil)
                return nil
            }
            failures = 0
            connection = current
            return event
        }

        private mutating func connect() async throws {
            let snapshot = source.manager.snapshot
            if hasConnected { try await snapshot.configuration.time.sleep(wait) }
            hasConnected = true
            var call = source.call
            if !call.headers.contains("Accept") { call.headers["Accept"] = EventSource.mediaType }
            if !call.headers.contains("Cache-Control") { call.headers["Cache-Control"] = "no-store" }
            if !lastEventID.isEmpty { call.headers["Last-Event-ID"] = lastEventID }
            let prepared = try source.manager.prepare(call, under: snapshot, streaming: .streamed)
            let exchange = prepared.exchange
            do {
                let response = try await prepared.open()
                guard try await isStream(response, of: exchange) else {
                    isOver = true
                    exchange.ended(response.head, nil)
                    return
                }
                var events = response.body.events(limit: source.settings.sizeLimit)
                events.lastEventID = lastEventID
                connection = Connection(
                    exchange: exchange,
                    head: response.head,
                    events: events.makeAsyncIterator()
                )
            } catch {
                throw HTTPSessionManager.ended(by: error, exchange)
            }
        }

        /// Whether there are events; false when the server says that there are no more.
        private func isStream(_ response: StreamedResponse, of exchange: Exchange) async throws -> Bool {
            let head = response.head
            let kind: RequestError.Kind
            switch head.status {
            case 200 where head.mediaType?.essence == EventSource.mediaType: return true
            case 204:
                response.body.abandon()
                return false
            case 200: kind = .unacceptableContentType(head.headers["Content-Type"])
            default: kind = .unacceptableStatus(head.status)
            }
            // What a server says about a failure is short; 64 KiB hold it.
            let content = (try? await response.body.collect(upTo: 64 << 10)) ?? Data()
            throw RequestError(
                kind,
                for: exchange.request,
                attempt: exchange.attempts,
                response: HTTPResponse(head: head, body: content, requestMethod: exchange.lastMethod)
            )
        }

        private var wait: Duration {
            source.settings.wait(serversTime: serversTime, failures: failures)
        }
    }

    fileprivate static let mediaType = "text/event-stream"
}

extension EventSourceSettings {
    /// How long to wait before the next connection.
    /// - Parameters:
    ///   - serversTime: What the server has asked for; nil for nothing.
    ///   - failures: How many connections in a row have failed.
    /// - Returns: The wait, at least what the server or the settings ask for.
    func wait(serversTime: Duration?, failures: Int) -> Duration {
        let first = serversTime ?? reconnectionTime
        guard failures > 1 else { return first }
        // Twice nothing is nothing: a server that asks to be asked at once and then fails would be asked without a pause.
        var wait = max(first, min(.milliseconds(100), maximumReconnectionTime))
        for _ in 1..<failures where wait < maximumReconnectionTime {
            wait = min(wait * 2, maximumReconnectionTime)
        }
        return max(wait, first)
    }
}
