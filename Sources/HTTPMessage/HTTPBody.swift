public import FoundationEssentials

/// The content of a request.
public struct HTTPBody: Sendable {
    /// A single pass over the content, in pieces of any size.
    package typealias Pieces = @Sendable () -> Producer

    /// Draws the next piece, nil at the end.
    package struct Producer: Sendable {
        package let next: @Sendable () async throws -> Data?

        package init(next: @escaping @Sendable () async throws -> Data?) {
            self.next = next
        }
    }

    /// Where the bytes come from.
    package enum Storage: Sendable {
        case data(Data)
        case file(path: String)
        case stream(length: Int64?, Pieces)
        /// A stream that can be drawn again from its start, such as a form made of files.
        case replayableStream(length: Int64?, Pieces)
    }

    /// Makes the fields that follow the content, once it has ended.
    package typealias Trailers = @Sendable () async throws -> HTTPHeaders

    package let storage: Storage
    /// What follows a stream of unknown length; nil for nothing.
    package let trailers: Trailers?

    package init(storage: Storage, trailers: Trailers? = nil) {
        self.storage = storage
        self.trailers = trailers
    }

    /// Bytes that are in memory.
    ///
    /// Replayable; the length is known.
    public static func data(_ data: Data) -> HTTPBody {
        HTTPBody(storage: .data(data))
    }

    /// A file, read in pieces while it is sent, off the engine's thread.
    ///
    /// Replayable; its length is taken when the request starts, and a file that changes meanwhile is an
    /// error.
    public static func file(_ path: String) -> HTTPBody {
        HTTPBody(storage: .file(path: path))
    }

    /// Bytes that a sequence yields while they are sent.
    ///
    /// It can be sent once: a redirect or a retry that would need it again is an error, never an empty body.
    /// - Parameters:
    ///   - sequence: The pieces. It is drawn only as fast as the peer takes the bytes.
    ///   - length: The exact number of bytes; nil sends the body in chunks. A sequence that yields more or fewer
    ///     bytes than declared fails the request.
    /// - Returns: A body that can be sent once.
    public static func stream<S: AsyncSequence & Sendable>(_ sequence: S, length: Int64? = nil) -> HTTPBody
    where S.Element == Data {
        HTTPBody(storage: .stream(length: length) { Producer(drawing: sequence) })
    }

    /// Bytes that a sequence yields while they are sent, in chunks, and header fields behind them (RFC 9110, section 6.5),
    /// such as a digest of what was sent.
    ///
    /// It can be sent once, as ``stream(_:length:)``. The request goes over HTTP/1.1 even to servers that speak HTTP/2,
    /// since libcurl (7.88 to date) sends such fields in chunks only. Who wants to announce their names adds a `Trailer`
    /// field to the request.
    /// - Parameters:
    ///   - sequence: The pieces. It is drawn only as fast as the peer takes the bytes.
    ///   - trailers: Called once, after the last piece was drawn; what it throws fails the request, as does a field
    ///     that may not stand there: `Content-Length`, `Authorization` and others that frame, route, authenticate or
    ///     describe the content.
    /// - Returns: A body that can be sent once.
    public static func stream<S: AsyncSequence & Sendable>(
        _ sequence: S,
        trailers: @escaping @Sendable () async throws -> HTTPHeaders
    ) -> HTTPBody where S.Element == Data {
        HTTPBody(storage: .stream(length: nil) { Producer(drawing: sequence) }, trailers: trailers)
    }

    /// Whether the body can be sent again after a redirect or for a retry.
    public var isReplayable: Bool {
        switch storage {
        case .data, .file, .replayableStream: true
        case .stream: false
        }
    }

    /// The number of bytes when it is known without opening anything; nil for files and unsized streams.
    public var knownLength: Int64? {
        switch storage {
        case .data(let data): Int64(data.count)
        case .file: nil
        case .stream(let length, _), .replayableStream(let length, _): length
        }
    }
}

extension HTTPBody.Producer {
    /// Draws the pieces of any sequence, one after the other.
    package init<S: AsyncSequence & Sendable>(drawing sequence: S) where S.Element == Data {
        let source = PieceSource(sequence)
        self.init { try await source.next() }
    }
}

/// Holds the iterator of a sequence, which is neither Sendable nor shareable, between two draws.
private actor PieceSource<S: AsyncSequence & Sendable> where S.Element == Data {
    private enum State {
        case notBegun(S)
        case drawing(S.AsyncIterator)
        /// Ended or failed: no draw may begin the sequence again.
        case over
    }

    private var state: State

    init(_ sequence: S) {
        state = .notBegun(sequence)
    }

    func next() async throws -> Data? {
        var iterator: S.AsyncIterator
        switch state {
        case .notBegun(let sequence): iterator = sequence.makeAsyncIterator()
        case .drawing(let begun): iterator = begun
        case .over: return nil
        }
        state = .over
        guard let piece = try await iterator.next(isolation: self) else { return nil }
        state = .drawing(iterator)
        return piece
    }
}
