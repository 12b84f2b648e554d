import Testing

@testable import NetManager

@Suite struct BodyChannelTests {
    private static func channel() -> BodyChannel {
        let transport = CurlTransport()
        return BodyChannel(id: TransferID(number: 1), engine: transport.engine, owner: transport)
    }

    private func isTaken(_ count: Int, by channel: BodyChannel) -> Bool {
        let offer = [UInt8](repeating: 1, count: count).withUnsafeBytes { channel.offer($0) }
        return if case .taken = offer { true } else { false }
    }

    @Test(arguments: [1, 1000, 16 << 10, 100 << 10, 256 << 10])
    func `a channel that nobody reads holds at most its watermark`(size: Int) {
        let channel = Self.channel()
        var held = 0
        while isTaken(size, by: channel) { held += size }
        #expect(held <= BodyChannel.watermark && held + size > BodyChannel.watermark)
        #expect(channel.received == held)
    }

    @Test
    func
        `a piece larger than the watermark is taken where nothing else waits, so that nothing stays away for ever`()
        async throws
    {
        let channel = Self.channel()
        let size = BodyChannel.watermark + 1
        #expect(isTaken(size, by: channel))
        #expect(!isTaken(1, by: channel))
        #expect(try await channel.next()?.count == size)
        #expect(isTaken(1, by: channel))
    }
}
