public import FoundationEssentials

/// The content of a response: a single pass over its bytes, in pieces.
///
/// The transfer is paused while nobody draws and ``BodyChannel/watermark`` bytes are waiting. Dropping the body, or
/// the task that reads it, ends the transfer.
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

    package init(storage: Storage) {
        self.storage = storage
    }

    /// Makes a body of bytes that are there already.
    public init(_ data: Data = Data()) {
        storage = .data(data)
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
