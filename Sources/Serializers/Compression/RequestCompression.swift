import FoundationEssentials
public import HTTPMessage

/// Compresses the bodies of requests, for servers that are known to read them so.
///
/// A body in memory is compressed at once and stays as it is when that would not make it smaller. Files and
/// streams are compressed while they are sent, in chunks, as their length is not known before; they can be sent
/// again if they could before.
public struct RequestCompression: Sendable, Hashable {
    /// A content coding (RFC 9110, section 8.4.1).
    public enum Coding: String, Sendable, Hashable {
        /// The gzip format (RFC 1952).
        case gzip
        /// The zlib format (RFC 1950), which is what HTTP calls deflate.
        case deflate
    }

    /// What happens to a request that has a `Content-Encoding` already.
    public enum ExistingCoding: Sendable, Hashable {
        /// The request fails: the body may be compressed already.
        case error
        /// The body is compressed and the field replaced.
        case replace
        /// The request stays as it is.
        case skip
    }

    /// The coding.
    public var coding: Coding
    /// Bodies that are known to have fewer bytes stay as they are.
    ///
    /// By default 1024: below that there is little to gain.
    public var minimumSize: Int
    /// What happens to a request that has a `Content-Encoding` already.
    ///
    /// By default it fails.
    public var existingCoding: ExistingCoding

    /// Compression in the gzip format.
    public static let gzip = RequestCompression(.gzip)
    /// Compression in the zlib format.
    public static let deflate = RequestCompression(.deflate)

    /// Makes an option.
    ///
    /// - Parameters:
    ///   - coding: The coding.
    ///   - minimumSize: The least bytes that are compressed; an empty body never is.
    ///   - existingCoding: What happens to a request that has a `Content-Encoding` already.
    public init(_ coding: Coding, minimumSize: Int = 1024, existingCoding: ExistingCoding = .error) {
        self.coding = coding
        self.minimumSize = minimumSize
        self.existingCoding = existingCoding
    }

    /// Compresses the body of a request and sets its `Content-Encoding`.
    ///
    /// - Parameter request: The request to change; one without a body stays as it is.
    /// - Throws: ``SerializationError/invalidRequest(_:)`` when there is a `Content-Encoding`;
    ///   ``SerializationError/file(path:reason:)`` when the body is a file that cannot be read.
    public func apply(to request: inout HTTPRequest) throws(SerializationError) {
        guard let body = request.body else { return }
        if request.headers.contains("Content-Encoding") {
            switch existingCoding {
            case .error:
                throw .invalidRequest(
                    "the request has a Content-Encoding already: remove it, or choose to replace or skip"
                )
            case .skip: return
            case .replace: break
            }
        }
        guard let compressed = try compressed(body) else { return }
        request.headers["Content-Encoding"] = coding.rawValue
        request.body = compressed
    }

    /// The body in this coding; nil when it should stay as it is.
    private func compressed(_ body: HTTPBody) throws(SerializationError) -> HTTPBody? {
        switch body.storage {
        case .data(let data):
            guard isWorthwhile(Int64(data.count)) else { return nil }
            let deflater = try Deflater(coding)
            let result = try deflater.compress(data) + deflater.finish()
            return result.count < data.count ? .data(result) : nil
        case .file(let path):
            let length = try FileReader(path: path).length
            guard isWorthwhile(length) else { return nil }
            let pieces = compressed { HTTPBody.Producer(readingFile: path, length: length) }
            return HTTPBody(storage: .replayableStream(length: nil, pieces))
        case .stream(let length, let pieces):
            guard isWorthwhile(length) else { return nil }
            return HTTPBody(storage: .stream(length: nil, compressed(pieces)), trailers: body.trailers)
        case .replayableStream(let length, let pieces):
            guard isWorthwhile(length) else { return nil }
            return HTTPBody(storage: .replayableStream(length: nil, compressed(pieces)))
        }
    }

    private func isWorthwhile(_ length: Int64?) -> Bool {
        guard let length else { return true }
        return length > 0 && length >= minimumSize
    }

    private func compressed(_ pieces: @escaping HTTPBody.Pieces) -> HTTPBody.Pieces {
        { [coding] in
            let source = CompressingProducer(source: pieces(), coding: coding)
            return HTTPBody.Producer { try await source.next() }
        }
    }
}
