import FoundationEssentials
import Locks

/// Carries a response's body from the engine's thread to the one task that reads it.
final class BodyChannel: BodySource {
    /// The most bytes that are held for a reader that sleeps, what libcurl has in hand counted in: 256 KiB.
    static let watermark = 256 << 10
    /// The most that libcurl writes at a time, and reads at a time over TLS (CURL_MAX_WRITE_SIZE).
    static let writeSize = 16 << 10
    /// What is held here: libcurl keeps a write that has no room.
    private static let capacity = watermark - writeSize
    /// What libcurl is let read at a time over a bare connection: beside one write it fills what is held here, and the
    /// socket is left alone until that is read.
    static let bulkSize = capacity - writeSize
    /// How large writes of the one size are joined: four times, so that a reader is not asked for each of them.
    private static let bulkPiece = 4 * writeSize

    private struct State {
        var pieces: [Data] = []
        var held = 0
        /// Bytes that have arrived in all.
        var received = 0
        /// What comes after the last piece; nil while more may arrive.
        var end: Result<Void, any Error>?
        var waiter: Handover<Data?>?
        /// Whether the one who waits is about to get the first piece.
        var isCalled = false
        /// Whether no more is read until the reader says so.
        var isPaused = false
        var isAbandoned = false
    }

    private let id: TransferID
    /// Keeps the engine and whoever owns it while the body is read.
    private let engine: Engine
    private let owner: any AnyObject & Sendable
    private let state = Guarded(State())
    /// The most that libcurl reads at a time.
    private let readSize: Int
    /// With so much left, a reader lets libcurl read on.
    private var resumeLevel: Int { min(Self.watermark / 2, Self.capacity - readSize) }

    init(id: TransferID, readSize: Int, engine: Engine, owner: any AnyObject & Sendable) {
        self.id = id
        self.readSize = readSize
        self.engine = engine
        self.owner = owner
    }

    // MARK: On the engine's thread

    /// What became of bytes that were offered.
    enum Offer {
        case taken(Outbox.Message?)
        /// The same, and there is no room for another read: libcurl is not to begin one before it is told to go on.
        case takenLast(Outbox.Message?)
        /// There is no room: pause, and offer the same bytes again later.
        case full
    }

    /// Takes bytes when there is room.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Offer {
        state.withLock { state in
            // The order to end the transfer is on its way: nothing more need be read until it is there.
            if state.isAbandoned { return .takenLast(nil) }
            guard state.held == 0 || state.held + bytes.count <= Self.capacity else {
                state.isPaused = true
                return .full
            }
            state.received += bytes.count
            state.held += bytes.count
            add(bytes, to: &state.pieces)
            var message: Outbox.Message?
            if state.waiter != nil, !state.isCalled {
                state.isCalled = true
                message = .body(self)
            }
            guard state.held + readSize > Self.capacity else { return .taken(message) }
            state.isPaused = true
            return .takenLast(message)
        }
    }

    /// Adds bytes to the last piece, or begins another.
    ///
    /// Small ones are joined, so that a server that sends bytes one by one costs one allocation for many.
    private func add(_ bytes: UnsafeRawBufferPointer, to pieces: inout [Data]) {
        let isBulk = readSize > Self.writeSize && bytes.count == Self.writeSize
        let size = isBulk ? Self.bulkPiece : Self.writeSize
        if let last = pieces.indices.last, pieces[last].count + bytes.count <= size {
            pieces[last].append(contentsOf: bytes)
        } else {
            var piece = Data()
            if isBulk { piece.reserveCapacity(size) }
            piece.append(contentsOf: bytes)
            pieces.append(piece)
        }
    }

    /// Gives the first piece to the one who waits, if it still does.
    func handOn() {
        let handover: (waiter: Handover<Data?>, piece: Data)? = state.withLock { state in
            state.isCalled = false
            guard let waiter = state.waiter, !state.pieces.isEmpty else { return nil }
            state.waiter = nil
            let piece = state.pieces.removeFirst()
            state.held -= piece.count
            return (waiter, piece)
        }
        handover?.waiter.resume(returning: handover?.piece)
    }

    /// Ends the body.
    /// - Returns: The answer to the reader, when one waits.
    func finish(_ end: Result<Void, any Error>) -> Outbox.Message? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            state.end = end
            // What is there comes first.
            guard !state.isCalled, let waiter = state.waiter else { return nil }
            state.waiter = nil
            return .end(waiter, end.map { nil })
        }
    }

    // MARK: On the reader's side

    func next() async throws -> Data? {
        // What is there needs no waiting, which costs as much as a copy of half of it.
        if !Task.isCancelled, let piece = takeFirst() { return piece }
        return try await withTaskCancellationHandler {
            try await Handover.value { continuation in
                enum Answer { case now(Result<Data?, any Error>), later }
                let (answer, mustResume): (Answer, Bool) = state.withLock { state in
                    guard state.waiter == nil else { return (.now(.failure(SecondReader())), false) }
                    if let (piece, mustResume) = takeFirst(of: &state) {
                        return (.now(.success(piece)), mustResume)
                    }
                    if let end = state.end { return (.now(end.map { nil }), false) }
                    if state.isAbandoned || Task.isCancelled {
                        return (.now(.failure(CancellationError())), false)
                    }
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

    /// Takes the first piece, if there is one, and lets libcurl read on where that makes room.
    private func takeFirst() -> Data? {
        guard let (piece, mustResume) = state.withLock({ takeFirst(of: &$0) }) else { return nil }
        if mustResume { engine.post(.resume(id)) }
        return piece
    }

    private func takeFirst(of state: inout State) -> (piece: Data, mustResume: Bool)? {
        // What is there when one waits is that one's.
        guard state.waiter == nil, !state.pieces.isEmpty else { return nil }
        let piece = state.pieces.removeFirst()
        state.held -= piece.count
        let mustResume = state.isPaused && state.held <= resumeLevel
        if mustResume { state.isPaused = false }
        return (piece, mustResume)
    }

    /// Bytes that have arrived in all, those that wait to be read included.
    var received: Int { state.withLock(\.received) }

    /// Whether nobody wants the body any more.
    var isAbandoned: Bool { state.withLock(\.isAbandoned) }

    /// Ends the transfer for what its reader found wrong with it; nothing happens when it has ended already.
    func refuse(because failure: TransferFailure) {
        engine.post(.fail(id, failure))
    }

    /// Whether the caller is on an engine's thread, be it this one's or another's.
    var isOnEngine: Bool { Engine.current != nil }

    /// Calls a closure where the caller is, but never on an engine's thread.
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
