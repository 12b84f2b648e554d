import Testing

@testable import NetManager

@Suite struct EngineEndTests {
    /// The thread that enqueues the first job starts the engine's and holds no reference: the job's task has the only one,
    /// and gives it back on another thread.
    @Test func `an engine may end before the thread that began it goes on`() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    for _ in 0..<300 {
                        let transport = CurlTransport()
                        await withTaskExecutorPreference(transport.engine) {}
                    }
                }
            }
        }
    }
}
