import Dispatch
import FoundationEssentials
import HTTPMessage
import Locks

/// Carries a body from the task that draws it to the engine's thread that sends it.
///
/// The task runs on the default executor, since what it draws from is the user's; it waits while the channel is full
/// and the transfer is paused while it is empty.
final class UploadChannel: Sendable {
    /// Bytes held before drawing stops: 512 KiB, two of libcurl's largest reads, so that one is ready while the next
    /// is drawn.
    private static let watermark = 512 << 10

    /// Small pieces are joined up to this size, so that a source that yields bytes one by one costs one move of the
    /// list for many.
    private static let joinedSize = 16 << 10

    /// What a read found.
    enum Read {
        case bytes(Int)
        /// Nothing yet: pause until the engine is told to resume.
        case dry
        case end
    }

    private struct State {
        var pieces: [Data] = []
        /// Bytes of the first piece that have been taken.
        var taken = 0
        var held = 0
        var hasEnded = false
        /// What follows the last piece.
        var trailers = HTTPHeaders()
        var isClosed = false
        /// Whether the transfer waits for bytes.
        var isDry = false
        /// The drawing task, when it waits for room.
        var waiter: UnsafeContinuation<Void, Never>?
        var task: Task<Void, Never>?
    }

    /// The number of bytes that the body must have; nil when it is open.
    let length: Int64?
    private let pieces: HTTPBody.Pieces
    private let makeTrailers: HTTPBody.Trailers?
    private let state = Guarded(State())

    init(length: Int64?, trailers: HTTPBody.Trailers? = nil, pieces: @escaping HTTPBody.Pieces) {
        self.length = length
        self.pieces = pieces
        makeTrailers = trailers
    }

    /// Whether fields follow the content.
    var makesTrailers: Bool { makeTrailers != nil }

    /// The fields that follow the content, once it has ended.
    var trailers: HTTPHeaders { state.withLock { $0.trailers } }

    /// Begins to draw.
    /// - Parameters:
    ///   - resume: Called when there are bytes again after a read that found none.
    ///   - fail: Called once when the body cannot go on.
    func begin(
        resume: @escaping @Sendable () -> Void,
        fail: @escaping @Sendable (TransferFailure) -> Void
    ) {
        let task = Task.detached { [self] in
            do {
                try await draw(resume: resume)
            } catch let failure as TransferFailure {
                fail(failure)
            } catch is CancellationError {
                // The transfer has ended and cancelled the task; or the user's sequence gave up.
                fail(.bodyToSend("its sequence was cancelled"))
            } catch {
                fail(.bodyToSend("its sequence threw \(type(of: error))"))
            }
        }
        let isClosed = state.withLock { state in
            state.task = task
            return state.isClosed
        }
        if isClosed { DispatchQueue.global().async { task.cancel() } }
    }

    /// Ends drawing; called when the transfer ends, however it ends.
    func close() {
        let (waiter, task) = state.withLock { state in
            state.isClosed = true
            state.pieces = []
            defer { state.waiter = nil }
            return (state.waiter, state.hasEnded ? nil : state.task)
        }
        waiter?.resume()
        // Cancelling calls what the user's sequence has registered for that, which must not run on the engine's thread.
        if let task { DispatchQueue.global().async { task.cancel() } }
    }

    /// Takes bytes, on the engine's thread.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Read {
        let (read, waiter) = state.withLock { state in
            let read = Self.take(from: &state, into: buffer)
            guard state.held < Self.watermark / 2 else {
                return (read, nil as UnsafeContinuation<Void, Never>?)
            }
            defer { state.waiter = nil }
            return (read, state.waiter)
        }
        waiter?.resume()
        return read
    }

    private static func take(from state: inout State, into buffer: UnsafeMutableRawBufferPointer) -> Read {
        var filled = 0
        while filled < buffer.count, let first = state.pieces.first {
            let count = min(buffer.count - filled, first.count - state.taken)
            let start = first.startIndex + state.taken
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + count)])
                .copyBytes(from: first[start..<(start + count)])
            filled += count
            state.taken += count
            if state.taken == first.count {
                state.pieces.removeFirst()
                state.taken = 0
            }
        }
        state.held -= filled
        if filled > 0 { return .bytes(filled) }
        if state.hasEnded { return .end }
        state.isDry = true
        return .dry
    }

    private func draw(resume: @Sendable () -> Void) async throws {
        let producer = pieces()
        var drawn: Int64 = 0
        while let piece = try await producer.next() {
            guard !piece.isEmpty else { continue }
            drawn += Int64(piece.count)
            if let length, drawn >= length {
                // The last piece waits until the sequence has said that it is the last: a body that is longer than
                // declared must break the request, not end up as a whole one.
                guard drawn == length, try await nextIsEnd(of: producer) else {
                    throw TransferFailure.bodyToSend(
                        "it has more than the \(length) bytes that were declared"
                    )
                }
                guard await put(piece) else { return }
                wake(resume)
                break
            }
            guard await put(piece) else { return }
            wake(resume)
        }
        if let length, drawn < length {
            throw TransferFailure.bodyToSend(
                "it ended after \(drawn) of the \(length) bytes that were declared"
            )
        }
        let trailers = try await makeTrailers?() ?? [:]
        if let field = trailers.firstUnsuitableTrailer {
            let name = field.isHTTPToken ? "“\(field)”" : "a name"
            throw TransferFailure.bodyToSend("\(name) with its value may not stand behind the content")
        }
        state.withLock { state in
            state.trailers = trailers
            state.hasEnded = true
        }
        wake(resume)
    }

    private func nextIsEnd(of producer: HTTPBody.Producer) async throws -> Bool {
        while let more = try await producer.next() {
            if !more.isEmpty { return false }
        }
        return true
    }

    private func wake(_ resume: @Sendable () -> Void) {
        let wasDry = state.withLock { state in
            defer { state.isDry = false }
            return state.isDry
        }
        if wasDry { resume() }
    }

    /// Waits for room and puts a piece into the channel.
    /// - Returns: False when the transfer has ended.
    private func put(_ piece: Data) async -> Bool {
        await withUnsafeContinuation { continuation in
            let mayGoOn = state.withLock { state in
                guard state.held >= Self.watermark, !state.isClosed else { return true }
                state.waiter = continuation
                return false
            }
            if mayGoOn { continuation.resume() }
        }
        return state.withLock { state in
            guard !state.isClosed else { return false }
            if let last = state.pieces.indices.last,
                state.pieces[last].count + piece.count <= Self.joinedSize
            {
                state.pieces[last].append(piece)
            } else {
                state.pieces.append(piece)
            }
            state.held += piece.count
            return true
        }
    }
}

extension HTTPHeaders {
    /// The name of the first field that may not be sent behind a content; nil when all may.
    ///
    /// What frames, routes, authenticates or describes the content is not read there, or read by some and not by others
    /// (RFC 9110, section 6.5.1).
    fileprivate var firstUnsuitableTrailer: String? {
        if let field = firstInvalidField { return field.name }
        return fields.first { field in
            Self.neverTrailers.contains(field.name.asciiLowercased)
        }?.name
    }

    private static let neverTrailers: Set<String> = [
        "age", "authorization", "cache-control", "connection", "content-encoding", "content-length",
        "content-range",
        "content-type", "cookie", "date", "expect", "expires", "host", "keep-alive", "location",
        "max-forwards", "pragma",
        "proxy-authorization", "proxy-connection", "range", "retry-after", "set-cookie", "te", "trailer",
        "transfer-encoding", "upgrade", "vary", "warning", "www-authenticate",
    ]
}
