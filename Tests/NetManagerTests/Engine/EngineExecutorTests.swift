import Glibc
import Synchronization
import Testing

@testable import NetManager

/// A number that many tasks may add to.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    var value: Int { number.load(ordering: .acquiring) }

    func add() { number.add(1, ordering: .acquiringAndReleasing) }
}

@Suite struct EngineExecutorTests {
    private let engine = Engine(configuration: .init())

    private func threadNow() -> UInt { UInt(pthread_self()) }

    @Test func `jobs run on one thread that is not the caller's`() async {
        let here = threadNow()
        let threads = await withTaskExecutorPreference(engine) {
            var threads: Set<UInt> = [UInt(pthread_self())]
            for _ in 0..<100 {
                await Task.yield()
                threads.insert(UInt(pthread_self()))
            }
            return threads
        }
        #expect(threads.count == 1)
        #expect(!threads.contains(here))
        engine.stop()
    }

    @Test func `a job enqueued after the end still runs`() async {
        await withTaskExecutorPreference(engine) {}
        engine.stop()
        let answer = await withTaskExecutorPreference(engine) { 42 }
        #expect(answer == 42)
    }

    @Test func `an engine that never began refuses commands after its end`() {
        engine.stop()
        #expect(!engine.post(.cancel(TransferID(number: 1))))
    }

    @Test func `a task that only yields does not keep others from running`() async {
        let turns = Counter()
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: engine) {
                while turns.value == 0 { await Task.yield() }
            }
            group.addTask(executorPreference: engine) {
                turns.add()
            }
        }
        engine.stop()
    }

    @Test func `many threads may enqueue at a time`() async {
        let count = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    await withTaskExecutorPreference(engine) { count.add() }
                }
            }
        }
        #expect(count.value == 1000)
        engine.stop()
    }
}
