import FoundationEssentials
import HTTPMessage
import Serializers

/// Undoes the content codings of a streamed body where it is read: as much as the reader draws, and never on the
/// engine's thread.
///
/// libcurl would decode whatever it has read although nobody draws; so it hands on the coded bytes, and what waits in
/// the channel is coded.
actor DecodedBody: BodySource {
    private let channel: BodyChannel
    private let head: HTTPResponse.Head
    private let maximumRatio: Int
    private let meter: ProgressMeter?
    /// The error of a body that cannot be decoded, but for what is wrong with it.
    private let fault: RequestError
    /// Made for the first byte: the body of an answer to HEAD is none, whatever its head says.
    private var decoder: ContentDecoder?
    private var decoded: Int64 = 0
    private var end: Result<Void, any Error>?
    private var isBeingRead = false

    init(_ channel: BodyChannel, _ head: HTTPResponse.Head, for plan: TransferPlan) {
        self.channel = channel
        self.head = head
        maximumRatio = plan.context.maximumDecompressionRatio
        meter = plan.context.meter
        // The plan itself would keep the body of the request in memory.
        let response = HTTPResponse(head: head, requestMethod: plan.method)
        fault = plan.error(.protocolError, response: response, phase: .idle)
    }

    nonisolated func next() async throws -> Data? {
        try await channel.offEngine { try await decodeNext() }
    }

    nonisolated func nextUndecoded() async throws -> Data? {
        try await channel.next()
    }

    nonisolated func abandon() {
        channel.abandon()
    }

    private func decodeNext() async throws -> Data? {
        guard !isBeingRead else { throw BodyChannel.SecondReader() }
        isBeingRead = true
        defer { isBeingRead = false }
        while end == nil {
            do {
                if let piece = try await decodeBit() { return piece }
            } catch {
                decoder = nil
                end = .failure(error)
            }
        }
        try end?.get()
        return nil
    }

    /// Decodes a bit or draws a piece to be decoded.
    /// - Returns: Bytes of the content, if that brought any.
    private func decodeBit() async throws -> Data? {
        // A body that decodes to nothing for long must not outlive the wish for it.
        guard !channel.isAbandoned, !Task.isCancelled else {
            channel.abandon()
            throw CancellationError()
        }
        assert(!channel.isOnEngine, "decoding holds up every other transfer")
        do {
            switch try decoder?.step() ?? .needsInput {
            case .piece(let piece):
                decoded += Int64(piece.count)
                meter?.record(TransferProgress(direction: .download, completed: decoded, total: nil))
                return piece
            case .nothing:
                break
            case .needsInput:
                try await draw()
            case .end:
                end = .success(())
            }
        } catch let failure as ContentDecoder.Failure {
            throw await refuse(because: failure.transferFailure)
        }
        return nil
    }

    /// Ends the transfer and waits until it has, so that its figures are there before the caller is told.
    private func refuse(because failure: TransferFailure) async -> RequestError {
        channel.refuse(because: failure)
        while (try? await channel.next()) != nil {}
        channel.abandon()
        var error = fault
        (error.kind, error.detail) = (failure.kindAndDetail.kind ?? fault.kind, failure.kindAndDetail.detail)
        return error
    }

    private func draw() async throws {
        guard let coded = try await channel.next() else {
            guard decoder != nil else { return end = .success(()) }
            decoder?.feedEnd()
            return
        }
        if decoder == nil {
            let codings = try ContentDecoder.codings(head.headers[values: "Content-Encoding"])
            decoder = ContentDecoder(codings, maximumRatio: maximumRatio)
        }
        decoder?.received = channel.received
        decoder?.feed(coded)
    }
}

extension ContentDecoder.Failure {
    /// Codings that are registered with IANA and not undone here: no other name is repeated in a text.
    private static let others: Set = ["br", "zstd", "compress", "x-compress", "dcb", "dcz"]

    fileprivate var transferFailure: TransferFailure {
        switch self {
        case .unknown(let name) where Self.others.contains(name):
            .undecodable(
                "the body has the coding \(name), which was not asked for; streams ask for \(ContentDecoder.acceptedCodings)"
            )
        case .unknown:
            .undecodable(
                "the body has a coding that was not asked for; streams ask for \(ContentDecoder.acceptedCodings)"
            )
        case .tooMany:
            .undecodable("the body has more than \(ContentDecoder.mostCodings) codings")
        case .malformed:
            .undecodable("the body is not in the coding that its head names")
        case .truncated:
            .truncatedCoding
        case .bomb:
            .decompressionBomb
        case .noMemory:
            .undecodable("there is no memory to decode the body")
        }
    }
}
