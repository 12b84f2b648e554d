import FoundationEssentials
import Testing

@testable import NetManager

@Suite struct BodyChannelTests {
    private static func channel(readSize: Int = BodyChannel.writeSize) -> BodyChannel {
        let transport = CurlTransport()
        return BodyChannel(
            id: TransferID(number: 1),
            readSize: readSize,
            engine: transport.engine,
            owner: transport
        )
    }

    private enum Answer { case taken, takenLast, full }

    private func offer(_ count: Int, to channel: BodyChannel) -> Answer {
        let offer = [UInt8](repeating: 1, count: count).withUnsafeBytes { channel.offer($0) }
        return switch offer {
        case .taken: .taken
        case .takenLast: .takenLast
        case .full: .full
        }
    }

    @Test(arguments: [1, 1000, 16 << 10])
    func `a channel that nobody reads holds its watermark, with the write that libcurl keeps`(size: Int) {
        let channel = Self.channel()
        var held = 0
        while offer(size, to: channel) != .full { held += size }
        #expect(held + size <= BodyChannel.watermark && held + 2 * size > BodyChannel.watermark - 16 << 10)
        #expect(channel.received == held)
    }

    @Test func `no read is begun for which there may be no room`() {
        let channel = Self.channel(readSize: BodyChannel.bulkSize)
        #expect(offer(16 << 10, to: channel) == .taken)
        #expect(offer(1, to: channel) == .takenLast)
        // What was read before comes all the same.
        for _ in 1..<14 { #expect(offer(16 << 10, to: channel) == .takenLast) }
        #expect(offer(16 << 10, to: channel) == .full)
    }

    @Test
    func
        `a piece larger than the watermark is taken where nothing else waits, so that nothing stays away for ever`()
        async throws
    {
        let channel = Self.channel()
        let size = BodyChannel.watermark + 1
        #expect(offer(size, to: channel) == .takenLast)
        #expect(offer(1, to: channel) == .full)
        #expect(try await channel.next()?.count == size)
        #expect(offer(1, to: channel) == .taken)
    }

    @Test func `writes of a large read are joined, and small ones are`() async throws {
        let bulk = Self.channel(readSize: BodyChannel.bulkSize)
        for _ in 0..<6 { _ = offer(16 << 10, to: bulk) }
        #expect(try await bulk.next()?.count == 64 << 10)
        #expect(try await bulk.next()?.count == 32 << 10)
        let small = Self.channel()
        for _ in 0..<(16 << 10) { _ = offer(1, to: small) }
        #expect(offer(1, to: small) == .taken)
        #expect(try await small.next()?.count == 16 << 10)
        #expect(try await small.next()?.count == 1)
    }

    /// Reads a body to its end.
    private func countOfAll(_ channel: BodyChannel) async throws -> Int {
        var count = 0
        while let piece = try await channel.next() { count += piece.count }
        return count
    }

    /// Offers bytes until a reader waits; what it finds without waiting it is not called for.
    /// - Returns: The call.
    private func callOfReader(_ channel: BodyChannel) async -> Outbox.Message {
        while true {
            await Task.yield()
            let offer = [UInt8](repeating: 1, count: 3).withUnsafeBytes { channel.offer($0) }
            if case .taken(let message?) = offer { return message }
        }
    }

    @Test func `a reader that waits is called once, and gets all before the end`() async throws {
        let channel = Self.channel()
        let reader = Task { try await countOfAll(channel) }
        let call = await callOfReader(channel)
        guard case .body = call else { throw CancellationError() }
        let second = [1, 2, 3].withUnsafeBytes { channel.offer($0) }
        guard case .taken(nil) = second else { throw CancellationError() }
        #expect(channel.finish(.success(())) == nil)
        channel.handOn()
        channel.handOn()
        #expect(try await reader.value == channel.received)
    }

    @Test func `a body is decoded on no engine's thread, be it another transport's`() async throws {
        let channel = Self.channel()
        let other = CurlTransport()
        #expect(!channel.isOnEngine)
        try await withTaskExecutorPreference(other.engine) {
            #expect(channel.isOnEngine)
            #expect(Engine.current === other.engine)
            try await channel.offEngine { #expect(Engine.current == nil) }
        }
    }

    @Test func `a second reader takes nothing from one who waits, who gets what was for him and the end`()
        async throws
    {
        let channel = Self.channel()
        let reader = Task { try await countOfAll(channel) }
        _ = await callOfReader(channel)
        _ = channel.finish(.success(()))
        await #expect(throws: BodyChannel.SecondReader.self) { try await channel.next() }
        channel.handOn()
        #expect(try await reader.value == channel.received)
    }
}
