public import FoundationEssentials
public import HTTPMessage
package import Locks

/// The content of a response: a single pass over its bytes, in pieces.
///
/// At most 256 KiB wait for the reader, as they were received and with what libcurl has in hand; then nothing more is read
/// from the server. Over HTTP/2 that is so as long as the response has a connection to itself
/// (``CurlTransport/Configuration/maximumStreamConnectionsPerHost``); from version 8.5 on libcurl may read its window of
/// 10 MiB ahead there. Content codings (gzip, deflate) are undone with each read, in pieces of at most 64 KiB. Dropping the
/// body, or the task that reads it, ends the transfer.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A piece of the content, never empty.
    public typealias Element = Data
    /// What a read throws: ``RequestError`` or `CancellationError`.
    public typealias Failure = any Error

    package enum Storage: Sendable {
        case data(Data)
        case channel(BodyReader)
    }

    package let storage: Storage
    private let trailerFields: Guarded<HTTPHeaders>?

    package init(storage: Storage, trailers: Guarded<HTTPHeaders>? = nil) {
        self.storage = storage
        trailerFields = trailers
    }

    /// The fields that came behind the content (RFC 9110, section 6.5).
    ///
    /// Complete once the content has been read to its end; empty where there are none. Nothing in them has been judged: a
    /// server may send whatever it likes.
    public var trailers: HTTPHeaders { trailerFields?.withLock { $0 } ?? [:] }

    /// The same body, read to its end.
    func read(as data: Data) -> ResponseBody {
        ResponseBody(storage: .data(data), trailers: trailerFields)
    }

    /// Makes a body of bytes that are there already.
    public init(_ data: Data = Data()) {
        self.init(storage: .data(data))
    }

    /// Iterates over the pieces.
    ///
    /// All iterators of a body share its one pass.
    public func makeAsyncIterator() -> Iterator {
        Iterator(storage: storage)
    }

    /// Reads the content to its end.
    /// - Parameter limit: The most bytes to hold; the default is 64 MiB.
    /// - Returns: The whole content.
    /// - Throws: ``RequestError`` of kind `bodyTooLarge` beyond the limit; what the transfer throws.
    public func collect(upTo limit: Int = 64 << 20) async throws -> Data {
        switch storage {
        case .data(let data):
            guard data.count <= limit else { throw BodyTooLarge(limit: limit) }
            return data
        case .channel(let reader):
            var whole = Data()
            while let piece = try await reader.next() {
                guard piece.count <= limit - whole.count else {
                    reader.abandon()
                    throw BodyTooLarge(limit: limit)
                }
                whole.append(piece)
            }
            return whole
        }
    }

    /// Draws the pieces.
    public struct Iterator: AsyncIteratorProtocol {
        private var storage: Storage?

        init(storage: Storage) {
            self.storage = storage
        }

        /// The next piece; nil at the end.
        public mutating func next() async throws -> Data? {
            switch storage {
            case .data(let data):
                storage = nil
                return data.isEmpty ? nil : data
            case .channel(let reader):
                return try await reader.next()
            case nil:
                return nil
            }
        }
    }
}

/// The content passed the limit of the one who collects it.
///
/// The manager makes a ``RequestError`` of it.
package struct BodyTooLarge: Error {
    package let limit: Int
}
