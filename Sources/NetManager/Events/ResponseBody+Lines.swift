import FoundationEssentials

extension ResponseBody {
    /// The content as lines of UTF-8, each at most 1 MiB; see ``lines(limit:)``.
    public var lines: Lines { lines(limit: 1 << 20) }

    /// The content as lines of UTF-8, which end with LF, CR LF or CR.
    ///
    /// Empty lines count, a last line without an end too. A byte order mark at the beginning is left out; bytes that are
    /// no UTF-8 become U+FFFD. It draws from the body's one pass.
    /// - Parameter limit: The most bytes of a line. A longer one ends the transfer and fails the read; from
    ///   ``HTTPSessionManager/stream(_:options:_:)`` it comes out as ``RequestError/Kind/bodyTooLarge``.
    /// - Returns: The lines, without their ends.
    public func lines(limit: Int) -> Lines {
        Lines(body: self, limit: limit)
    }

    /// The lines of a content: a single pass.
    public struct Lines: AsyncSequence, Sendable {
        /// A line without its end.
        public typealias Element = String
        /// What a read throws: ``RequestError`` or `CancellationError`.
        public typealias Failure = any Error

        let body: ResponseBody
        let limit: Int

        /// Iterates over the lines.
        public func makeAsyncIterator() -> Iterator {
            Iterator(pieces: body.makeAsyncIterator(), body: body, splitter: LineSplitter(limit: limit))
        }

        /// Draws the lines.
        public struct Iterator: AsyncIteratorProtocol {
            private var pieces: ResponseBody.Iterator
            private let body: ResponseBody
            private var splitter: LineSplitter
            /// Lines that are there already, the next one last.
            private var ready: [String] = []
            private var isOver = false

            init(pieces: ResponseBody.Iterator, body: ResponseBody, splitter: LineSplitter) {
                self.pieces = pieces
                self.body = body
                self.splitter = splitter
            }

            /// The next line; nil at the end.
            public mutating func next() async throws -> String? {
                while ready.isEmpty {
                    guard !isOver else { return nil }
                    guard let piece = try await pieces.next() else {
                        isOver = true
                        return splitter.finish().map { String(decoding: $0, as: UTF8.self) }
                    }
                    try split(piece)
                }
                return ready.popLast()
            }

            private mutating func split(_ piece: Data) throws {
                do {
                    var found: [String] = []
                    try splitter.push(piece) { found.append(String(decoding: $0, as: UTF8.self)) }
                    ready = found.reversed()
                } catch {
                    isOver = true
                    body.abandon()
                    throw error
                }
            }
        }
    }
}
