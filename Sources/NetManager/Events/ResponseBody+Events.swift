extension ResponseBody {
    /// The content as server-sent events of at most 16 MiB each; see ``events(limit:)``.
    public var events: Events { events(limit: 16 << 20) }

    /// The content as server-sent events (WHATWG HTML, section 9.2), whatever its media type.
    ///
    /// An event that is incomplete at the end is left out. It draws from the body's one pass and does not reconnect;
    /// ``HTTPSessionManager/events(_:parameters:headers:options:settings:)`` does.
    /// - Parameter limit: The most bytes of an event's data. More ends the transfer and fails the read; from
    ///   ``HTTPSessionManager/stream(_:options:_:)`` it comes out as ``RequestError/Kind/bodyTooLarge``.
    /// - Returns: The events.
    public func events(limit: Int) -> Events {
        Events(body: self, limit: limit)
    }

    /// The events of a content: a single pass.
    public struct Events: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = ServerSentEvent
        /// What a read throws: ``RequestError`` or `CancellationError`.
        public typealias Failure = any Error

        let body: ResponseBody
        let limit: Int
        var lastEventID = ""

        /// Iterates over the events.
        public func makeAsyncIterator() -> Iterator {
            Iterator(
                pieces: body.makeAsyncIterator(),
                body: body,
                parser: ServerSentEventParser(limit: limit, lastEventID: lastEventID)
            )
        }

        /// Draws the events.
        public struct Iterator: AsyncIteratorProtocol {
            private var pieces: ResponseBody.Iterator
            private let body: ResponseBody
            private(set) var parser: ServerSentEventParser
            /// Events that are there already, the next one last.
            private var ready: [ServerSentEvent] = []

            init(pieces: ResponseBody.Iterator, body: ResponseBody, parser: ServerSentEventParser) {
                self.pieces = pieces
                self.body = body
                self.parser = parser
            }

            /// The next event; nil at the end.
            public mutating func next() async throws -> ServerSentEvent? {
                while ready.isEmpty {
                    guard let piece = try await pieces.next() else { return nil }
                    do {
                        ready = try parser.push(piece).reversed()
                    } catch {
                        body.abandon()
                        throw error
                    }
                }
                return ready.popLast()
            }
        }
    }
}
