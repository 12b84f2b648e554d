import FoundationEssentials
import HTTPMessage

/// The body of a request as the engine sends it.
enum UploadPlan: Sendable {
    /// No body.
    case none
    /// Bytes in memory, none included: a request whose method has a body says `Content-Length: 0`.
    case bytes(Data)
    /// Bytes that a task brings while they are sent.
    case channel(UploadChannel)

    var isEmpty: Bool {
        switch self {
        case .none: true
        case .bytes(let data): data.isEmpty
        case .channel: false
        }
    }

    /// Whether the body is, or may be, more than is handed to libcurl at once.
    var isLarge: Bool {
        switch self {
        case .none: false
        case .bytes(let data): data.count > UploadSource.copiedSize
        case .channel(let channel): channel.length.map { $0 > UploadSource.copiedSize } ?? true
        }
    }

    /// Whether libcurl asks for the body piece by piece.
    var isReadWhileSent: Bool {
        if case .channel = self { true } else { isLarge }
    }

    /// Whether fields follow the content.
    var hasTrailers: Bool {
        if case .channel(let channel) = self { channel.makesTrailers } else { false }
    }

    /// Prepares a request's body that is in memory; none for any other.
    init(inMemory body: HTTPBody?, method: HTTPMethod) {
        switch body?.storage {
        case nil:
            // Most requests are GETs, and none of the others is asked about then.
            self = method != .get && [.post, .put, .patch].contains(method) ? .bytes(Data()) : .none
        case .data(let data) where data.isEmpty && method == .head:
            // libcurl knows HEAD only without a body; with one it would wait for the content of the answer.
            self = .none
        case .data(let data):
            self = .bytes(data)
        default:
            self = .none
        }
    }

    /// Prepares a request's body.
    ///
    /// A file is opened and measured here, so this may block for a moment and must not run on the engine's
    /// thread.
    /// - Throws: ``TransferFailure`` when a file cannot be read.
    init(_ body: HTTPBody?, method: HTTPMethod) throws(TransferFailure) {
        switch body?.storage {
        case nil, .data:
            self.init(inMemory: body, method: method)
        case .file(let path):
            let file = try UploadFile(path: path)
            self = .channel(UploadChannel(length: file.length) { HTTPBody.Producer { try file.read() } })
        case .stream(let length, let pieces), .replayableStream(let length, let pieces):
            self = .channel(UploadChannel(length: length, trailers: body?.trailers, pieces: pieces))
        }
    }
}
