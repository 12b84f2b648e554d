import Dispatch
import HTTPMessage
import Testing

@testable import NetManager

@Suite struct EngineEndTests {
    /// The thread that enqueues the first job starts the engine's and holds no reference: the job's task has the only one,
    /// and gives it back on another thread.
    @Test func `an engine may end before the thread that began it goes on`() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    for round in 0..<(isSanitized ? 20 : 200) {
                        let transport = CurlTransport()
                        await withTaskExecutorPreference(transport.engine) {}
                        // Each has two descriptors to its end: there must not be thousands at a time.
                        if round % 4 == 3 { await transport.shutdown(deadline: .zero) }
                    }
                }
            }
        }
    }

    @Test func `what follows the order to end in the same turn is refused, and not forgotten`() async {
        let transport = CurlTransport()
        let manager = HTTPSessionManager(transport: transport)
        // While this runs on the thread, nothing that is posted is taken.
        await withTaskExecutorPreference(transport.engine) {
            transport.shutdown()
            async let isDrained = transport.shutdown(deadline: .seconds(600))
            let awaited = await requestError { _ = try await manager.get("http://localhost:1/") }
            #expect(awaited?.label == "shut_down")
            _ = await isDrained
        }
        let later: Outcome<JSONValue> = await outcome {
            manager.get("http://localhost:1/", success: $0, failure: $1)
        }
        #expect(later.error?.label == "shut_down")
    }

    @Test func `a closure that is handed over on the thread after its last turn is called`() async {
        let engine = Engine(configuration: .init())
        await withTaskExecutorPreference(engine) {}
        let queue = DispatchQueue(label: "closures")
        await withCheckedContinuation { called in
            engine.whenEnded { engine.complete(on: queue) { called.resume() } }
            engine.stop()
        }
        #expect(!engine.isCurrentThread)
    }
}
