import Glibc
import Synchronization

/// How often the process has been forked on the way to this one: a child has none of its parent's threads.
enum ForkCount {
    private static let count = Atomic<UInt32>(0)

    /// The number of this process.
    static var current: UInt32 { count.load(ordering: .relaxed) }

    /// Begins to count.
    static func prepare() {
        _ = current
        pthread_atfork(nil, nil) { ForkCount.count.wrappingAdd(1, ordering: .relaxed) }
    }
}
