import Testing

@testable import NetManager

@Suite struct IdleWorkTests {
    @Test func `connections are closed once, however often that was asked for`() {
        var work = IdleWork()
        for _ in 0..<1_000 { work.add(.closeConnections) }
        work.add(.tell {})
        work.add(.closeConnections)
        let items = work.take().map { if case .tell = $0 { "tell" } else { "close" } }
        #expect(items == ["tell", "close"])
        #expect(work.isEmpty)
    }
}
