import FoundationEssentials
import Locks

/// Carries a response's body from the engine's thread to the one task that reads it.
final class BodyChannel: BodySource {
    /// The most bytes that are held: 256 KiB, sixteen of libcurl's usual writes (16 KiB) and one of the largest.
    ///
    /// The transfer is paused when the next ones have no room beside them.
    static let watermark = 256 << 10
    /// Small writes are joined up to this size, so that a server that sends bytes one by one costs one allocation
    /// for many.
    private static let joinedSize = 16 << 10

    private struct State {
        var pieces: [Data] = []
        var held = 0
        /// Bytes that have arrived in all.
        var received = 0
        /// What comes after the last piece; nil while more may arrive.
        var end: Result<Void, any Error>?
        var waiter: Handover<Data?>?
        var isPaused = false
        var isAbandoned = false
    }

    private let id: TransferID
    /// Keeps the engine and whoever owns it while the body is read.
    private let engine: Engine
    private let owner: any AnyObject & Sendable
    private let state = Guarded(State())

    init(id: TransferID, engine: Engine, owner: any AnyObject & Sendable) {
        self.id = id
        self.engine = engine
        self.owner = owner
    }

    // MARK: On the engine's thread

    /// What became of bytes that were offered.
    enum Offer {
        case taken(Outbox.Message?)
        /// There is no room: pause, and offer the same bytes again later.
        case full
    }

    /// Takes bytes when there is room.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Offer {
        state.withLock { state in
            if state.isAbandoned { return .taken(nil) }
            if let waiter = state.waiter {
                state.waiter = nil
                state.received += bytes.count
                return .taken(.piece(waiter, .success(Data(bytes))))
            }
            guard state.held == 0 || state.held + bytes.count <= Self.watermark else {
                state.isPaused = true
                return .full
            }
            state.received += bytes.count
            state.held += bytes.count
            if let last = state.pieces.indices.last, state.pieces[last].count + bytes.count <= Self.joinedSize
            {
                state.pieces[last].append(contentsOf: bytes)
            } else {
                state.pieces.append(Data(bytes))
            }
            return .taken(nil)
        }
    }

    /// Ends the body.
    /// - Returns: The answer to the reader, when one waits.
    func finish(_ end: Result<Void, any Error>) -> Outbox.Message? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            state.end = end
            guard let waiter = state.waiter else { return nil }
            state.waiter = nil
            return .piece(waiter, end.map { nil })
        }
    }

    // MARK: On the reader's side

    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await Handover.value { continuation in
                enum Answer { case now(Result<Data?, any Error>), later }
                let (answer, mustResume): (Answer, Bool) = state.withLock { state in
                    if !state.pieces.isEmpty {
                        let piece = state.pieces.removeFirst()
                        state.held -= piece.count
                        let mustResume = state.isPaused && state.held <= Self.watermark / 2
                        if mustResume { state.isPaused = false }
                        return (.now(.success(piece)), mustResume)
                    }
                    if let end = state.end { return (.now(end.map { nil }), false) }
                    if state.isAbandoned || Task.isCancelled {
                        return (.now(.failure(CancellationError())), false)
                    }
                    guard state.waiter == nil else { return (.now(.failure(SecondReader())), false) }
                    state.waiter = continuation
                    let mustResume = state.isPaused
                    state.isPaused = false
                    return (.later, mustResume)
                }
                if mustResume { engine.post(.resume(id)) }
                if case .now(let result) = answer { continuation.resume(with: result) }
            }
        } onCancel: {
            abandon()
        }
    }

    /// Bytes that have arrived in all, those that wait to be read included.
    var received: Int { state.withLock(\.received) }

    /// Whether nobody wants the body any more.
    var isAbandoned: Bool { state.withLock(\.isAbandoned) }

    /// Ends the transfer for what its reader found wrong with it; nothing happens when it has ended already.
    func refuse(because failure: TransferFailure) {
        engine.post(.fail(id, failure))
    }

    /// Whether the caller is on the engine's thread.
    var isOnEngine: Bool { engine.isCurrentThread }

    /// Calls a closure where the caller is, but never on the engine's thread.
    func offEngine<T: Sendable>(_ work: () async throws -> T) async throws -> T {
        guard isOnEngine else { return try await work() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor, operation: work)
    }

    func abandon() {
        let (waiter, mustCancel) = state.withLock { state in
            guard !state.isAbandoned else { return (nil as Handover<Data?>?, false) }
            state.isAbandoned = true
            let mustCancel = state.end == nil
            if mustCancel { state.pieces = [] }
            defer { state.waiter = nil }
            return (state.waiter, mustCancel)
        }
        waiter?.resume(throwing: CancellationError())
        if mustCancel { engine.post(.cancel(id)) }
    }

    /// Two tasks read one body at a time.
    struct SecondReader: Error, CustomStringConvertible {
        var description: String { "A response body has one reader at a time." }
    }
}
